import type { Hook } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { checkKinds } from '@sluice/guardrails';
import type { McpRequest } from '@sluice/mcp';
import type { CompiledBundle } from '../../compiled/compiled-bundle.ts';
import type { EnforcedGuardrails, VisitHooks } from '../../compiled/enforced-guardrails.ts';
import { eventHook } from '../../compiled/event-hooks.ts';
import type { CompiledMcpServer } from '../../compiled/mcp-servers.ts';
import { findGuardrail, SavedGuardrails } from '../../compiled/saved-guardrails.ts';
import type { Guardrails } from '../../guardrails/guardrails.ts';
import type { McpCall } from '../mcp-call.ts';
import { ToolGuard } from './tool-guard.ts';

/** Whose answers hold what a tool said. */
const answersOfTools: ReadonlySet<string> = new Set(['tools/call', 'tasks/result', 'tasks/get']);

/**
 * Which guardrails look at the calls of a server: those that the organisation and
 * the workspace enforce, and those that its policy names. Callers have no say in it.
 */
export class ToolGuards {
  readonly #guardrails: Guardrails;
  readonly #saved = new SavedGuardrails();
  readonly #named = new WeakMap<CompiledMcpServer, { identity: string; hooks: ServerHooks }>();

  constructor(guardrails: Guardrails) {
    this.#guardrails = guardrails;
  }

  /**
   * What looks at this request and its answer; undefined = nothing does.
   * @throws GatewayError `guardrail.not_in_force` where one of them cannot be run
   */
  of(call: McpCall, asked: McpRequest, isModern: boolean): ToolGuard | undefined {
    return answersOfTools.has(asked.method) ? this.#guard(call, asked, isModern) : undefined;
  }

  /** Of an answer that is told again, whose request is not known any more. */
  ofReplayed(call: McpCall, idText: string): ToolGuard | undefined {
    return this.#guard(call, { method: 'tasks/result', idText, subject: '' }, false);
  }

  #guard(
    call: McpCall,
    asked: Pick<McpRequest, 'method' | 'idText'> & Partial<McpRequest>,
    isModern: boolean,
  ): ToolGuard | undefined {
    const { max_result_bytes: bytesMax, guardrail_denied_as: deniedAs } = call.server.policy;
    const { hooks, missing } = this.#hooksOf(call);
    if (hooks === undefined && missing === undefined && bytesMax === undefined) return undefined;
    if (missing !== undefined)
      throw new GatewayError('guardrail.not_in_force', {
        message: `A guardrail that every call of this server must pass cannot be run: ${missing}.`,
      });
    // A task is asked for: a result of a call would be none of it.
    const isPlain = asked.params?.task === undefined && asked.method !== 'tasks/get';
    return new ToolGuard(this.#guardrails, {
      call,
      hooks,
      bytesMax,
      isModern,
      deniesByResult: deniedAs !== 'error' && isPlain,
      method: asked.method,
      idText: asked.idText,
      tool: asked.subject ?? '',
      arguments: asked.params?.arguments ?? {},
    });
  }

  #hooksOf({ bundle, server }: McpCall): ServerHooks {
    const { enforced } = bundle;
    const { input_guardrails: input = [], output_guardrails: output = [] } = server.policy;
    if (enforced === undefined && input.length === 0 && output.length === 0) return noHooks;
    const identity = JSON.stringify([
      enforced?.identity,
      [...input, ...output].map((slug) => findGuardrail(bundle, slug)?.version.id),
    ]);
    const known = this.#named.get(server);
    if (known?.identity === identity) return known.hooks;
    const hooks = this.#compile(bundle, enforced, { input, output }, identity);
    this.#named.set(server, { identity, hooks });
    return hooks;
  }

  #compile(
    bundle: CompiledBundle,
    enforced: EnforcedGuardrails | undefined,
    { input, output }: { input: readonly string[]; output: readonly string[] },
    identity: string,
  ): ServerHooks {
    const missing = [...(enforced?.missing ?? [])];
    const named = (slugs: readonly string[], already: readonly Hook[]): Hook[] => {
      const known = new Set(already.map(({ versionId }) => versionId));
      return slugs.flatMap((slug) => {
        const source = findGuardrail(bundle, slug);
        if (source === undefined) missing.push(`"${slug}" is not known here`);
        if (source === undefined || known.has(source.version.id)) return [];
        const hook = this.#saved.hook(source);
        const unknown = hook.checks.find(({ id, isEnabled }) => isEnabled && !checkKinds.has(id));
        if (unknown !== undefined)
          missing.push(`"${slug}" has the check "${unknown.id}", which this release does not run`);
        return [{ ...hook, isEnforced: true }];
      });
    };
    const before = enforced?.beforeRequest ?? [];
    const after = enforced?.afterRequest ?? [];
    const beforeRequest = [...before, ...named(input, before)].flatMap(eventHook);
    const afterRequest = [...after, ...named(output, after)].flatMap(eventHook);
    if (missing.length > 0) return { hooks: undefined, missing: missing[0] };
    if (beforeRequest.length === 0 && afterRequest.length === 0) return noHooks;
    const all = { beforeRequest, afterRequest, missing, readsBodies: true, identity };
    return { hooks: { own: undefined, enforced: all }, missing: undefined };
  }
}

interface ServerHooks {
  readonly hooks: VisitHooks | undefined;
  /** Why they cannot be run. */
  readonly missing: string | undefined;
}

const noHooks: ServerHooks = { hooks: undefined, missing: undefined };
