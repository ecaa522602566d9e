import { describe, expect, it } from 'vitest';
import type { EnforcedGuardrails } from '../../compiled/enforced-guardrails.ts';
import type { AgentExchange } from '../find-agent.ts';
import { AgentGuards } from './agent-guards.ts';

describe('which guardrails look at messages to agents', () => {
  const guards = new AgentGuards({} as never);
  const of = (enforced: Partial<EnforcedGuardrails> | undefined) =>
    guards.of({ bundle: { enforced } } as unknown as AgentExchange, 'a2a');
  const none = {
    beforeRequest: [],
    afterRequest: [],
    missing: [],
    readsBodies: false,
    identity: '',
  };

  it('none where none is enforced, or looks at models alone', () => {
    expect(of(undefined)).toBeUndefined();
    const hook = { checks: [{ id: 'default.modelWhitelist', parameters: {}, isEnabled: true }] };
    expect(of({ ...none, beforeRequest: [hook] as never })).toBeUndefined();
  });

  it('nothing is asked without one that cannot be run', () => {
    expect(() => of({ ...none, missing: ['"pg-a" is not known here'] })).toThrowError(
      expect.objectContaining({ code: 'guardrail.not_in_force' }),
    );
  });
});
