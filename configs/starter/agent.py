"""The agent: it calls the model and runs the tools that it asks for, until it asks for none.

Change it, and press ctrl+r in agentscope to run the row again with the code as it is then.
"""


def count_words(text: str) -> int:
    """Count the words of a text.

    Args:
        text: the text, as it stands in the task
    """
    words = text.split()
    print("counting:", words)
    return len(words)


async def run(ctx):
    messages = [
        {"role": "system", "content": "Count with the tool. Answer with the number alone."},
        *ctx.messages,
    ]
    while True:
        reply = await ctx.chat(messages, tools=[count_words])
        messages.append(reply.message)
        if not reply.tool_calls:
            return ctx.done(reply.content)
        for call in reply.tool_calls:
            result = await ctx.call_tool(call.name, call.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
