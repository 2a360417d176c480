"""Which one to choose: every mitigation method on one's own data, judged on equal terms."""

from isonomy._registry import callable_room
from isonomy.benchmark.change import Change
from isonomy.benchmark.judge import Benchmark, judge_benchmark
from isonomy.benchmark.plan import BenchmarkPlan, plan_benchmark
from isonomy.benchmark.recommend import MethodVerdict, Recommendation, Section
from isonomy.benchmark.run import benchmark
from isonomy.benchmark.words import headline, sentences

__all__ = [
    "Benchmark",
    "BenchmarkPlan",
    "Change",
    "MethodVerdict",
    "Recommendation",
    "Section",
    "benchmark",
    "headline",
    "judge_benchmark",
    "plan_benchmark",
    "sentences",
]

callable_room(__name__)
