"""
A lender
========

In preparation.
"""
