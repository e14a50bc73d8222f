"""`pi-context completion SHELL`: the script that teaches a shell to complete our commands."""

from pi_context.call import Call


def completion(call: Call) -> int:
    """Print the completion script."""
    from click.shell_completion import get_completion_class

    from pi_context.command_line import PROGRAM, application

    shell = get_completion_class(call.words["shell"])
    assert shell is not None
    script = shell(application(), {}, PROGRAM, f"_{PROGRAM.replace('-', '_').upper()}_COMPLETE").source()
    call.out.script(script)
    return 0
