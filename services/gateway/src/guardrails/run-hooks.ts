import { operations } from '@sluice/contracts';
import type { Hook } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { HookContext } from './hook-context.ts';
import { type HookResult, type HookRun, hasRun } from './hook-results.ts';
import type { HookTools } from './run-check.ts';
import { allOf, type HookOutcome, runHook, withDocument } from './run-hook.ts';

/**
 * Runs the hooks of one event that a reply waits for. Guardrails run side by
 * side on the document as it came; then mutators, one after another, on what
 * the guardrails made of it. Asynchronous hooks are not for this function:
 * they have no place in its results. Never throws.
 */
export async function runHooks(
  hooks: readonly Hook[],
  context: HookContext,
  given: HookTools,
): Promise<HookRun> {
  const tools = { ...given, spending: { ms: 0 } };
  const waitedFor = hooks.filter((hook) => !hook.async || isSkipped(hook, context));
  const results: HookResult[] = waitedFor.map(({ id, type }) => ({ id, type, skipped: true }));

  const guardrails = indexesOf(waitedFor, 'guardrail', context);
  const running = allOf(
    guardrails.map((index) => runHook(waitedFor[index] as Hook, context, tools)),
  );
  const outcomes = running instanceof Promise ? await running : running;
  outcomes.forEach(({ result }, at) => {
    results[guardrails[at] as number] = result;
  });
  let document = outcomes.some(({ changed }) => changed !== undefined)
    ? await composed(
        guardrails.map((index) => waitedFor[index] as Hook),
        outcomes,
        context,
        tools,
      )
    : undefined;

  const isDenied = () => results.some((result) => hasRun(result) && result.deny);
  for (const index of indexesOf(waitedFor, 'mutator', context)) {
    // What is refused needs no more changes.
    if (isDenied()) break;
    const current = document === undefined ? context : withDocument(context, document);
    const { result, changed } = await runHook(waitedFor[index] as Hook, current, tools);
    results[index] = result;
    document = changed ?? document;
  }

  return {
    results,
    failed: results.some((result) => hasRun(result) && !result.verdict),
    denied: isDenied(),
    request: context.event === 'beforeRequest' ? document : undefined,
    response: context.event === 'afterRequest' ? document : undefined,
  };
}

/** Skipped hooks appear in the results but look at nothing, and so deny nothing. */
export function isSkipped(hook: Hook, { event, endpoint, status }: HookContext): boolean {
  if (event === 'afterRequest' && status !== 200) return true;
  return (
    hook.type === 'mutator' && (hook.async || operations[endpoint].hooks.input === 'guardrails')
  );
}

function indexesOf(hooks: readonly Hook[], type: Hook['type'], context: HookContext): number[] {
  return hooks.flatMap((hook, index) =>
    hook.type === type && !isSkipped(hook, context) ? [index] : [],
  );
}

/**
 * Hooks that ran side by side each changed the original. Taking one change would
 * lose the others, say what an organisation's own redaction removed: so all
 * after the first that changed anything are run again, on what came before them.
 */
async function composed(
  hooks: readonly Hook[],
  outcomes: readonly HookOutcome[],
  context: HookContext,
  tools: HookTools,
): Promise<JsonObject | undefined> {
  let document: JsonObject | undefined;
  for (const [index, { changed }] of outcomes.entries()) {
    if (changed === undefined) continue;
    if (document === undefined) document = changed;
    else {
      const again = await runHook(hooks[index] as Hook, withDocument(context, document), tools);
      document = again.changed ?? document;
    }
  }
  return document;
}
