/** For tests: contexts and hooks with one thing about them said, the rest as usual. */
import type { Hook, HookCheck } from '@sluice/engine';
import { type CheckFunction, type CheckKind, checkKinds } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import { CheckCompiler } from './check-compiler.ts';
import type { HookContext } from './hook-context.ts';
import type { HookTools } from './run-check.ts';

export function exampleContext(given: Partial<HookContext> = {}): HookContext {
  return {
    requestId: 'request-1',
    event: 'beforeRequest',
    endpoint: 'chatComplete',
    request: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
    response: undefined,
    status: given.event === 'afterRequest' ? 200 : 0,
    provider: 'openai',
    metadata: {},
    headers: {},
    isStream: false,
    traceId: 'trace-1',
    workspaceId: 'workspace-1',
    organisationId: 'organisation-1',
    unreadable: undefined,
    createdAt: '2030-01-01T00:00:00.000Z',
    signal: new AbortController().signal,
    ...given,
  };
}

/** A chat whose last message says this. */
export function asking(content: JsonObject[string]): HookContext {
  const messages = [
    { role: 'system', content: 'Not looked at.' },
    { role: 'user', content },
  ];
  return exampleContext({ request: { model: 'm', messages } });
}

/** A chat that was answered so. */
export function answering(content: JsonObject[string], more: JsonObject = {}): HookContext {
  return exampleContext({
    event: 'afterRequest',
    response: { choices: [{ index: 0, message: { role: 'assistant', content, ...more } }] },
  });
}

export function exampleHook(given: Partial<Hook> & Pick<Hook, 'checks'>): Hook {
  return {
    id: 'hook',
    type: 'guardrail',
    deny: false,
    deniesSoftly: false,
    timeoutMs: undefined,
    textLengthMax: undefined,
    async: false,
    sequential: false,
    streaming: undefined,
    onSuccess: undefined,
    onFail: undefined,
    by: 'admin',
    isEnforced: false,
    versionId: undefined,
    ...given,
  };
}

export function exampleCheck(
  id: string,
  parameters: HookCheck['parameters'] = {},
  isEnabled = true,
): HookCheck {
  return { id, parameters, isEnabled, deniesSoftly: parameters.soft_deny_200 === true };
}

/** The checks there are, and some made for the test. */
export function exampleTools(
  more: Record<string, CheckFunction> = {},
  checkDeadlineMs = 1_000,
): HookTools & { faults: string[] } {
  const faults: string[] = [];
  const kinds = new Map<string, CheckKind>(checkKinds);
  for (const [id, run] of Object.entries(more))
    kinds.set(id, { id, judges: 'texts', compile: () => ({ run, deadlineMs: undefined }) });
  const compiler = new CheckCompiler(kinds, (checkId, error) =>
    faults.push(`${checkId}: ${error.message}`),
  );
  const undecided = { decided: () => {}, undecided: () => {} };
  return { compiler, checkDeadlineMs, fetch: nobodyAnswers, undecided, faults };
}

const nobodyAnswers: HookTools['fetch'] = () => Promise.reject(new Error('nobody answers'));

/** Checks with a known outcome. */
export const fixedChecks: Record<string, CheckFunction> = {
  'test.pass': () => ({ verdict: true, data: {} }),
  'test.fail': () => ({ verdict: false, data: {} }),
  'test.throw': () => {
    throw new TypeError('broken');
  },
};

/** Adds a mark to the last message, so that order and loss show. */
export function marking(mark: string): CheckFunction {
  return ({ request }) => {
    const [message] = request.messages as [JsonObject];
    return {
      verdict: true,
      data: {},
      request: { ...request, messages: [{ ...message, content: `${message.content}${mark}` }] },
    };
  };
}

export function contentOf(request: JsonObject | undefined): unknown {
  return (request?.messages as JsonObject[] | undefined)?.at(-1)?.content;
}
