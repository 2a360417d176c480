"""Which one to choose: every mitigation method on one's own data, judged on equal terms."""

from isonomy.benchmark.judge import Benchmark, judge_benchmark
from isonomy.benchmark.plan import BenchmarkPlan, plan_benchmark

__all__ = ["Benchmark", "BenchmarkPlan", "judge_benchmark", "plan_benchmark"]
