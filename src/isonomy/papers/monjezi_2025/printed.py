"""What Monjezi et al. (2025) printed: Tables I and III to VII, transcribed from arXiv:2501.11597v1.

Cells are kept as printed (``.1`` stays ``.1``), slips included. What a reader must know:

- Of Table IV, each case has one line with its ACD, CVaR and ECD and one for each of its two
  groups: label, rows and generated rows in thousands, location, scale, shape, the one ``+/-`` that
  is printed behind all three (``e`` is below .01), threshold, type, shape of the Q-Q plot,
  horizon. One cell of generated rows is left empty in the print (svm, default, Female) and is 0
  here.
- The three numbers of a case stand in cells that span two rows, and the text of the PDF does not
  tell their columns where they are shaded differently. Two cases depend on a reading: svm and rf
  on adult sex. Ours (ACD .04 and CVaR .08; CVaR .08 and ECD -.18) is the one under which the
  paper's own counts (ACD in 10 of 40, ECD in 19, ECD above ACD in 13) come out, under which ECD is
  the difference of the printed locations to the last digit but for two signs, and under which the
  CVaR columns of svm and rf are equal throughout, as they are in all other rows.
- Groups carry the printed labels. Of German (but svm), Heart, Student and MEPS they look
  exchanged: the sizes fit the other sex.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

__all__ = [
    "cases",
    "generators",
    "groups",
    "mitigated",
    "printed_two",
    "return_levels",
    "two_decimals",
]

KEY = ["model", "task"]

_TABLE_I = """
original 500 .12 .01 .37 .01
original 1000 .14 .03 .42 .03
original 2000 .16 .04 .47 .05
mitigated 500 .90 .02 .78 .1
mitigated 1000 .93 .03 .80 .18
mitigated 2000 .95 .04 .81 .19
"""

_TABLE_III = """
adult .02 .93 .74 .03 | .01 .93 .78 .01 | .11 .19 .01 .25
compas .08 .97 .61 .0 | .08 .98 .63 .0 | .30 .76 .02 .51
german .05 .13 .39 .2 | .06 .15 .54 .0 | .07 .15 .05 .17
bank .02 .88 .73 .0 | .03 .81 .67 .0 | .20 .12 .01 .26
default .03 .82 .65 .01 | .04 .72 .47 .03 | .34 .33 .00 .13
heart .09 .93 .54 .16 | .13 .77 .35 .09 | .13 .31 .15 .39
meps15 .26 .91 .05 .07 | .06 .88 .42 .01 | .78 .89 .00 .45
meps16 .26 .9 .06 .10 | .06 .89 .39 .01 | .77 .91 .00 .34
student .09 .90 .22 .18 | .09 .97 .18 .02 | .10 .87 .02 .76
"""

_TABLE_IV = """
dnn adult race .07 -.23 .13
  White 2.56 0 .15 .03 -.08 .01 .12 III linear inf
  Black 3.1 0 .28 .08 -.08 .02 .2 III linear inf
dnn adult sex .05 .08 .21
  Male 20.1 0 .03 .01 .04 e .02 I right 500
  Female 10.2 0 .24 .08 -.1 .02 .16 III linear inf
dnn german sex .05 -.00 .09
  Male .3 1.0 .0 .00 -141.17 e .00 III linear inf
  Female .7 0 .09 .01 -1.05 e .07 III linear inf
dnn bank age .00 -.05 -.01
  Young 9.4 0 .08 .03 .17 e .05 II heavy 0
  Old 1.5 0 .07 .03 -.03 .02 .04 I left 5000
dnn compas race .02 -.01 .11
  Caucasian 1.4 0 .02 .01 .04 e .02 I left 500
  Other 3.0 0 .13 .02 .03 .01 .1 I left 1000
dnn default sex .03 -.00 .10
  Male 11.4 0 .01 .01 .29 e .01 II heavy 0
  Female 17.2 0 .11 .02 -.07 e .1 III linear inf
dnn heart sex -.02 -.00 -.01
  Male .1 1.0 .01 .00 -.14 e .01 III linear inf
  Female .2 1.0 .00 .00 -2.72 e .00 III linear inf
dnn meps15 sex .05 -.00 .18
  Male 8.2 0 .16 .04 -.07 .01 .11 III linear inf
  Female 7.6 0 .34 .05 -.09 .01 .29 III linear inf
dnn meps16 sex .07 .00 .20
  Male 8.3 0 .18 .06 .02 .01 .12 I left 5000
  Female 7.4 0 .38 .06 -.24 .02 .31 III linear inf
dnn student sex .02 -.00 .09
  Male .6 0 .00 .00 -347.33 e .00 III linear inf
  Female .5 0 .09 .04 -.27 .01 .04 III linear inf
lr adult race .09 -.19 .11
  White 25.7 0 .0 .00 .00 e .00 I left 500
  Black 3.1 0 .11 .00 -1.24 e .11 III linear inf
lr adult sex .06 .22 .07
  Male 20.1 0 .0 .0 -1.0 e .00 III linear inf
  Female 10.2 0 .07 .00 -1.62 e .07 III linear inf
lr german sex .09 -.01 .1
  Male .3 .5 -.02 .01 -.74 e -.03 III linear inf
  Female .7 0 .08 .00 -1.0 e .08 III linear inf
lr bank age .0 -.09 .01
  Young 9.4 0 .00 .00 -1.0 e .00 III linear inf
  Old 1.5 0 .01 .00 -1.33 e .01 III linear inf
lr compas race -.04 .0 -.06
  Caucasian 1.5 0 .00 .00 -.73 e .00 III linear inf
  Other 3.0 0 .06 .01 -.54 e .06 III linear inf
lr default sex .04 -.07 .03
  Male 11.4 0 .00 .00 -.66 e .00 III linear inf
  Female 17.2 0 .03 .00 -1.07 e .03 III linear inf
lr heart sex -.02 .02 -.01
  Male .1 1.0 .01 .01 -1.0 e .00 III linear inf
  Female .2 .5 .00 .00 -1.0 e .00 III linear inf
lr meps15 sex .06 -.1 .07
  Male 8.2 0 .00 .00 -.44 e .00 III linear inf
  Female 7.6 0 .07 .00 -1.65 e .07 III linear inf
lr meps16 sex .1 -.13 .12
  Male 8.3 0 .0 .00 -.14 e .00 III linear inf
  Female 7.4 0 .12 .00 -.99 e .12 III linear inf
lr student sex .04 .0 .1
  Male .6 0 .00 .00 -1.06 e .00 III linear inf
  Female .5 0 .1 .01 -2.92 e .08 III linear inf
svm adult race .04 -.11 .03
  White 25.7 0 .28 .04 -.52 .02 .23 III linear inf
  Black 3.1 0 .31 .06 -.33 .02 .24 III linear inf
svm adult sex .04 .08 .15
  Male 20.1 0 .01 .00 -.75 e .01 III linear inf
  Female 10.2 0 .16 .02 -.06 .01 .14 III linear inf
svm german sex .01 -.03 .02
  Female .3 .5 .01 .01 -.07 e .01 III linear inf
  Male .7 0 .03 .00 -.41 e .02 III linear inf
svm bank age .01 -.09 .07
  Young 9.4 0 .1 .05 .01 .02 .05 I left 1000
  Old 1.4 0 .17 .05 .03 .01 .12 I left 1000
svm compas race .0 .0 .01
  Caucasian 1.4 0 .00 .00 .12 e .00 II heavy 0
  Other 3.0 0 .01 .01 .4 e .01 I left 2000
svm default sex .0 -.01 .01
  Male 11.4 0 .03 .00 .00 e .02 I left 2000
  Female 17.2 0 .04 .01 -.33 e .03 III linear inf
svm heart sex .0 .04 -.01
  Male .1 1.0 .01 .00 -.18 e .00 III linear inf
  Female .2 .5 .00 .00 .00 e .00 I left 5000
svm meps15 sex .02 -.07 .07
  Male 8.2 0 .01 .00 -.07 e .00 III linear inf
  Female 7.6 0 .08 .02 -.35 .01 .06 III linear inf
svm meps16 sex .03 -.13 .12
  Male 8.3 0 .00 .00 -.26 e .00 III linear inf
  Female 7.4 0 .12 .01 -.5 e .11 III linear inf
svm student sex .0 .0 .0
  Male .6 0 .01 .00 .36 e .00 II heavy 0
  Female .5 0 .01 .01 .03 e .00 I left 10000
rf adult race .04 -.11 .01
  White 25.7 0 .54 .07 -.16 .02 .47 III linear inf
  Black 3.1 0 .55 .1 -.41 .03 .42 III linear inf
rf adult sex -.04 .08 -.18
  Male 20.1 0 .36 .07 .00 .01 .29 I left 1000
  Female 10.3 0 .54 .08 -.27 .02 .44 III linear inf
rf german sex .01 -.03 .03
  Male .3 1.0 .07 .02 -.34 .01 .04 III linear inf
  Female .7 0 .1 .03 .01 .01 .07 I right 500
rf bank age -.01 -.09 -.02
  Young 9.5 0 .15 .03 -.49 .01 .11 III linear inf
  Old 1.5 0 .13 .04 -.23 .01 .08 III linear inf
rf compas race .02 .0 .18
  Caucasian 1.5 0 .36 .08 -.74 .02 .23 III linear inf
  Other 3.0 0 .54 .06 -.69 .03 .45 III linear inf
rf default sex -.01 -.01 -.02
  Male 11.4 0 .65 .09 -.21 .03 .54 III linear inf
  Female 17.2 0 .63 .06 -.43 .02 .56 III linear inf
rf heart sex .0 .04 .0
  Male .1 2.0 .05 .03 -.21 .01 .01 III linear inf
  Female .2 1.5 .05 .04 -.12 .01 .01 III linear inf
rf meps15 sex -.02 -.07 -.15
  Male 8.2 0 .51 .13 -1.04 e .34 III linear inf
  Female 7.6 0 .36 .13 -.21 .04 .22 III linear inf
rf meps16 sex -.01 -.13 -.03
  Male 8.3 0 .38 .14 -.4 .05 .22 III linear inf
  Female 7.4 0 .35 .08 -.38 .03 .24 III linear inf
rf student sex .0 .0 .01
  Male .6 0 .03 .02 -.38 .01 .01 III linear inf
  Female .5 0 .04 .02 -.29 .01 .02 III linear inf
"""

_TABLE_V = """
dnn adult race -0.01 0.04 0.08 0.06 0.72 0.08 | -0.04 0.08 0.11 0.13 1.49 0.1
dnn adult sex -0.03 0.01 0.02 0.09 0.49 0.11 | -0.07 0.03 0.05 0.19 0.68 0.2
dnn german sex -0.09 0.02 0.05 0.02 0.55 0.65 | -0.01 0.09 0.15 0.09 0.4 0.11
dnn bank age -0.01 0.03 0.05 0.01 0.4 0.09 | 0.0 0.03 0.06 0.02 0.26 0.06
dnn compas race -0.01 0.03 0.0 0.08 0.14 0.09 | -0.02 0.03 0.01 0.07 0.13 0.15
dnn default sex 0.0 0.01 0.01 0.02 0.18 0.3 | -0.02 0.03 0.04 0.04 0.25 0.06
dnn heart sex -0.06 0.02 0.03 0.06 0.23 0.17 | -0.08 0.15 0.26 0.18 0.45 0.12
dnn meps15 sex -0.04 0.02 0.02 0.06 0.61 0.05 | -0.03 0.04 0.05 0.06 0.65 0.09
dnn meps16 sex 0.01 0.01 0.01 0.05 0.57 0.42 | -0.03 0.05 0.08 0.07 0.87 0.04
dnn student sex -0.07 0.02 0.02 0.03 0.03 0.09 | 0.02 0.1 0.05 0.06 0.07 0.05
lr adult race -0.03 0.04 0.07 0.05 0.53 0.47 | 0.03 0.3 0.47 0.24 8.14 0.4
lr adult sex -0.01 0.02 0.03 0.07 0.47 0.19 | 0.02 0.12 0.13 0.21 0.71 0.29
lr german sex 0.0 0.07 0.1 0.07 0.5 0.02 | 0.0 0.11 0.17 0.08 0.41 0.09
lr bank age -0.11 0.05 0.07 0.03 0.44 0.13 | 0.0 0.14 0.25 0.06 2.28 0.22
lr compas race -0.05 0.01 0.01 0.05 0.09 0.22 | -0.01 0.03 0.0 0.07 0.13 0.07
lr default sex -0.05 0.02 0.02 0.02 0.28 0.1 | 0.02 0.08 0.12 0.05 0.29 0.19
lr heart sex -0.06 0.12 0.24 0.09 0.45 0.37 | 0.19 0.19 0.33 0.17 0.48 0.06
lr meps15 sex -0.03 0.02 0.03 0.05 0.58 0.09 | -0.03 0.03 0.05 0.05 0.75 0.03
lr meps16 sex 0.01 0.01 0.02 0.04 0.63 0.79 | -0.03 0.08 0.13 0.08 1.38 0.26
lr student sex -0.03 0.04 0.03 0.06 0.07 0.05 | -0.01 0.08 0.05 0.05 0.07 NV
svm adult race -0.05 0.02 0.04 0.04 0.54 0.31 | -0.01 0.18 0.29 0.16 3.47 0.08
svm adult sex -0.04 0.01 0.03 0.07 0.53 0.72 | 0.07 0.11 0.13 0.19 0.72 0.43
svm german sex -0.08 0.04 0.06 0.05 0.23 0.23 | -0.02 0.09 0.13 0.07 0.65 0.04
svm bank age -0.06 0.01 0.02 -0.0 0.21 0.03 | 0.01 0.05 0.1 0.02 1.07 0.24
svm compas race -0.03 0.03 0.0 0.05 0.08 0.02 | 0.01 0.03 0.0 0.07 0.13 0.06
svm default sex -0.02 0.02 0.03 0.02 0.29 0.02 | -0.02 0.02 0.04 0.02 0.15 0.1
svm heart sex 0.03 0.06 0.19 0.13 0.32 0.1 | 0.08 0.2 0.33 0.19 0.55 0.06
svm meps15 sex 0.0 0.02 0.02 0.04 0.53 0.3 | -0.02 0.02 0.04 0.04 0.54 0.1
svm meps16 sex -0.04 0.02 0.03 0.03 0.56 0.52 | -0.03 0.02 0.04 0.04 0.7 0.13
svm student sex -0.09 0.02 0.04 0.02 0.03 0.72 | 0.03 0.08 0.02 0.06 0.06 0.03
rf adult race -0.03 0.09 0.11 0.13 1.58 0.07 | -0.01 0.1 0.13 0.14 1.85 0.17
rf adult sex -0.04 0.08 0.07 0.18 0.69 0.04 | 0.08 0.1 0.11 0.18 0.71 0.07
rf german sex -0.05 0.06 0.17 0.08 0.31 NV | 0.01 0.08 0.12 0.08 0.53 0.15
rf bank age 0.01 0.01 0.03 0.01 0.18 0.17 | 0.01 0.02 0.04 0.01 0.27 0.05
rf compas race -0.02 0.02 0.01 0.07 0.11 0.03 | 0.0 0.03 0.01 0.07 0.13 0.05
rf default sex -0.07 0.01 0.02 0.03 0.18 0.02 | 0.08 0.02 0.03 0.03 0.23 0.06
rf heart sex -0.09 0.07 0.08 0.18 0.43 0.06 | -0.08 0.23 0.36 0.18 0.64 0.12
rf meps15 sex -0.05 0.05 0.07 0.07 0.86 0.04 | -0.02 0.03 0.05 0.04 0.44 0.16
rf meps16 sex -0.02 0.02 0.03 0.04 0.57 0.01 | -0.03 0.02 0.04 0.04 0.52 0.01
rf student sex -0.01 0.07 0.01 0.02 0.03 NV | 0.0 0.05 0.04 0.05 0.06 0.01
"""

_TABLE_VI = """
dnn adult race -0.05 0.08 0.12 0.09 2.74 0.03 | 0.02 0.02 0.04 0.14 1.17 0.13
dnn adult sex 0.05 0.18 0.27 0.17 0.87 0.07 | 0.11 0.1 0.2 0.08 0.43 0.08
dnn german sex 0.01 0.06 0.1 0.06 0.43 0.1 | 0.19 0.1 0.2 0.07 0.47 0.02
dnn bank age 0.0 0.02 0.03 0.0 0.34 0.02 | 0.06 0.03 0.06 0.02 0.32 0.05
dnn compas race -0.01 0.03 0.0 0.07 0.13 0.03 | 0.01 0.02 0.0 0.07 0.13 0.11
dnn default sex -0.03 0.02 0.03 0.02 0.23 0.01 | 0.09 0.04 0.07 0.06 0.41 0.11
dnn heart sex 0.0 0.14 0.24 0.12 0.61 0.08 | 0.06 0.19 0.38 0.1 0.47 0.02
dnn meps15 sex -0.03 0.03 0.05 0.04 0.66 0.01 | 0.08 0.03 0.06 0.08 0.73 0.12
dnn meps16 sex -0.04 0.02 0.04 0.04 0.65 0.01 | 0.08 0.03 0.05 0.08 0.83 0.08
dnn student sex 0.05 0.03 0.03 0.02 0.03 0.02 | 0.1 0.08 0.03 0.06 0.08 0.02
lr adult race -0.06 0.17 0.25 0.17 4.59 0.12 | 0.06 0.29 0.52 0.22 5.0 0.16
lr adult sex 0.04 0.19 0.29 0.18 0.87 0.06 | 0.09 0.05 0.11 0.1 0.52 0.18
lr german sex 0.01 0.09 0.17 0.06 0.47 0.03 | 0.14 0.1 0.19 0.07 0.68 0.04
lr bank age -0.01 0.0 0.01 0.0 0.6 0.02 | 0.05 0.12 0.22 0.04 0.93 0.13
lr compas race -0.01 0.03 0.01 0.07 0.13 0.04 | -0.01 0.02 0.01 0.07 0.12 0.1
lr default sex -0.05 0.02 0.03 0.01 0.22 0.02 | 0.06 0.05 0.09 0.01 0.08 0.12
lr heart sex 0.09 0.21 0.37 0.16 0.68 0.04 | 0.13 0.18 0.36 0.13 0.48 0.02
lr meps15 sex -0.03 0.02 0.04 0.04 0.56 0.02 | 0.05 0.03 0.06 0.06 0.66 0.08
lr meps16 sex -0.03 0.03 0.05 0.04 0.74 0.03 | 0.06 0.02 0.03 0.07 0.77 0.1
lr student sex 0.0 0.08 0.04 0.05 0.06 0.02 | 0.08 0.07 0.03 0.05 0.07 0.02
svm adult race -0.06 0.11 0.18 0.09 4.98 0.06 | -0.06 0.1 0.16 0.16 1.84 0.08
svm adult sex 0.04 0.16 0.27 0.14 0.92 0.07 | 0.09 0.03 0.07 0.12 0.56 0.13
svm german sex 0.02 0.05 0.09 0.04 0.64 0.01 | 0.06 0.1 0.17 0.05 0.28 0.03
svm bank age -0.0 0.01 0.02 0.0 0.75 0.0 | 0.03 0.05 0.1 0.02 0.56 0.15
svm compas race -0.01 0.03 0.0 0.07 0.13 0.01 | -0.0 0.02 0.0 0.07 0.13 0.11
svm default sex -0.05 0.01 0.02 0.01 0.21 0.01 | 0.04 0.02 0.05 0.02 0.12 0.12
svm heart sex 0.09 0.18 0.35 0.15 0.62 0.02 | 0.14 0.19 0.38 0.12 0.4 0.02
svm meps15 sex -0.03 0.02 0.04 0.03 0.64 0.0 | 0.03 0.03 0.08 0.05 0.47 0.12
svm meps16 sex 0.04 0.02 0.03 0.03 0.57 0.0 | 0.02 0.05 0.12 0.04 0.43 0.03
svm student sex -0.01 0.08 0.02 0.05 0.06 0.0 | 0.1 0.07 0.02 0.05 0.07 0.01
rf adult race -0.05 0.08 0.15 0.08 3.14 0.06 | 0.08 0.14 0.26 0.16 1.7 0.06
rf adult sex 0.05 0.15 0.24 0.13 0.87 0.05 | 0.11 0.09 0.17 0.09 0.46 0.06
rf german sex 0.01 0.07 0.12 0.05 0.87 0.03 | 0.21 0.13 0.23 0.07 0.39 0.02
rf bank age -0.01 0.0 0.01 0.0 0.88 0.01 | 0.04 0.03 0.05 0.01 0.24 0.07
rf compas race 0.0 0.02 0.0 0.07 0.13 0.03 | 0.0 0.02 0.0 0.07 0.13 0.09
rf default sex -0.03 0.01 0.02 0.01 0.23 0.02 | 0.07 0.02 0.03 0.04 0.32 0.12
rf heart sex 0.09 0.17 0.3 0.14 0.86 0.03 | 0.16 0.21 0.43 0.11 0.44 0.02
rf meps15 sex -0.03 0.03 0.05 0.04 0.65 0.0 | 0.06 0.03 0.05 0.07 0.67 0.11
rf meps16 sex -0.03 0.02 0.04 0.04 0.52 0.01 | 0.06 0.02 0.06 0.06 0.68 0.05
rf student sex -0.01 0.06 0.04 0.05 0.06 0.01 | 0.06 0.07 0.01 0.08 0.1 0.01
"""

_TABLE_VII = """
dnn adult race -0.07 0.02 0.04 0.02 0.74 0.14 | -0.04 0.08 0.09 0.14 1.65 0.02
dnn adult sex -0.04 0.03 0.05 0.06 0.61 0.03 | 0.02 0.02 0.03 0.06 0.68 0.04
dnn german sex -0.09 0.02 0.04 0.02 0.79 0.02 | -0.06 0.04 0.08 0.05 0.21 0.02
dnn bank age -0.08 0.06 0.05 0.07 0.36 0.05 | 0.02 0.02 0.04 0.01 0.18 0.02
dnn compas race -0.02 0.02 0.03 0.04 0.08 0.17 | 0.02 0.02 0.0 0.06 0.11 0.03
dnn default sex 0.02 0.01 0.02 0.02 0.17 0.08 | -0.01 0.04 0.05 0.04 0.32 0.06
dnn heart sex 0.06 0.11 0.22 0.06 0.29 0.01 | 0.04 0.1 0.26 0.16 0.43 0.01
dnn meps15 sex 0.0 0.01 0.02 0.04 0.36 0.04 | 0.03 0.03 0.03 0.06 0.63 0.04
dnn meps16 sex 0.04 0.02 0.03 0.04 0.69 0.02 | 0.0 0.04 0.06 0.05 0.93 0.08
dnn student sex 0.02 0.06 0.02 0.03 0.04 0.21 | -0.03 0.06 0.02 0.04 0.04 0.03
lr adult race -0.06 0.1 0.13 0.12 3.01 0.17 | -0.01 0.03 0.05 0.03 3.38 0.03
lr adult sex 0.04 0.1 0.13 0.15 0.77 0.07 | -0.03 0.02 0.04 0.03 0.73 0.05
lr german sex -0.03 0.1 0.17 0.11 0.62 0.13 | -0.05 0.05 0.09 0.04 0.15 0.0
lr bank age -0.05 0.05 0.09 0.01 0.16 0.02 | 0.02 0.06 0.11 0.02 0.85 0.04
lr compas race -0.01 0.02 0.01 0.06 0.11 0.04 | 0.04 0.04 0.01 0.08 0.15 0.04
lr default sex -0.03 0.03 0.05 0.03 0.46 0.03 | -0.01 0.03 0.05 0.03 0.43 0.03
lr heart sex -0.07 0.12 0.2 0.21 0.63 0.1 | -0.04 0.09 0.27 0.13 0.42 0.02
lr meps15 sex 0.0 0.06 0.09 0.07 1.07 0.06 | -0.01 0.03 0.03 0.04 0.77 0.02
lr meps16 sex -0.04 0.07 0.1 0.07 1.16 0.07 | -0.01 0.03 0.04 0.04 0.68 0.03
lr student sex 0.03 0.04 0.02 0.04 0.04 0.08 | 0.0 0.04 0.02 0.03 0.04 0.01
"""

_METRICS = ["Acc loss", "AOD", "EOD", "SPD", "DI", "ECD"]


def _task(words: list[str]) -> tuple[str, str, list[str]]:
    return words[0], f"{words[1]} {words[2]}", words[3:]


def _table_iv() -> tuple[list[list[str]], list[list[str]]]:
    whole, parts = [], []
    for line in _TABLE_IV.strip().splitlines():
        words = line.split()
        if not line.startswith(" "):
            model, task, values = _task(words)
            whole.append([model, task, *values])
        else:
            parts.append([model, task, *words])
    return whole, parts


@cache
def cases() -> pd.DataFrame:
    """Give ACD, CVaR and ECD of the 40 cases of Table IV, as text."""
    columns = [*KEY, "ACD", "CVaR", "ECD"]
    return pd.DataFrame(_table_iv()[0], columns=columns).set_index(KEY)


@cache
def groups() -> pd.DataFrame:
    """Give the 80 rows of Table IV, as text; group 1 is the privileged one."""
    names = ["label", "N", "synthetic", "mu", "sigma", "xi", "+/-", "tau", "type", "qq", "B"]
    frame = pd.DataFrame(_table_iv()[1], columns=[*KEY, *names])
    frame.insert(2, "group", [1, 2] * (len(frame) // 2))
    return frame.set_index([*KEY, "group"])


@cache
def mitigated() -> pd.DataFrame:
    """Give Tables V to VII, as text: one row per method, model and task."""
    rows = []
    for text, methods in (
        (_TABLE_V, ("EG", "Fair-SMOTE")),
        (_TABLE_VI, ("STEALTH", "MAAT")),
        (_TABLE_VII, ("MiniMax", "ECD-Fair")),
    ):
        for line in text.strip().splitlines():
            model, task, values = _task(line.split())
            rows.append([methods[0], model, task, *values[:6]])
            rows.append([methods[1], model, task, *values[7:]])
    return pd.DataFrame(rows, columns=["method", *KEY, *_METRICS]).set_index(["method", *KEY])


@cache
def generators() -> pd.DataFrame:
    """Give Table III, as text: one row per dataset and generator."""
    rows = []
    for line in _TABLE_III.strip().splitlines():
        dataset, _, rest = line.partition(" ")
        for name, part in zip(("ctgan", "tvae", "independent"), rest.split("|"), strict=True):
            rows.append([dataset, name, *part.split()])
    columns = ["dataset", "generator", "FID", "KL-D", "LG-D", "F1 loss"]
    return pd.DataFrame(rows, columns=columns).set_index(["dataset", "generator"])


@cache
def return_levels() -> pd.DataFrame:
    """Give Table I, as text: return levels of White and Black, each with its ``+/-``."""
    rows = [line.split() for line in _TABLE_I.strip().splitlines()]
    columns = ["model", "interactions", "White", "White +/-", "Black", "Black +/-"]
    return pd.DataFrame(rows, columns=columns).set_index(["model", "interactions"])


def two_decimals(value: Any) -> str:
    """Write a number with two decimals, anything else as it is.

    Examples
    --------
    >>> [two_decimals(value) for value in (-0.001, 0.125, float("nan"), 310, "III")]
    ['0.00', '0.12', '', '310', 'III']
    """
    if isinstance(value, float | np.floating):
        # a minus before nothing would be a cell of its own
        return "" if value != value else f"{value:.2f}".replace("-0.00", "0.00")
    return "" if value is None or value is pd.NA else str(value)


def printed_two(frame: pd.DataFrame) -> pd.DataFrame:
    """Give printed numbers with two decimals, so that .1 and .10 are one cell; words stay."""

    def write(cell: str) -> str:
        try:
            return two_decimals(float(cell))
        except ValueError:
            return "0.00" if cell == "e" else cell

    return frame.map(write)
