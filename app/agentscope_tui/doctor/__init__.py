"""`agentscope doctor`: does a runner keep the protocol?"""
