import { describe, expect, it } from 'vitest';
import { applyQuirks, droppedByQuirks } from './quirks.ts';

describe('applyQuirks', () => {
  it('leaves a body alone that no quirk concerns, and never edits the caller’s', () => {
    const body = { model: 'm', temperature: 0.5, messages: [{ role: 'user', content: 'x' }] };
    const before = structuredClone(body);
    const quirks = {
      rename: { seed: 'random_seed' },
      drop: ['logit_bias'],
      clamp: { temperature: [0, 1] as const },
      values: { tool_choice: { required: 'any' } },
      modelPrefix: 'vendor.',
      effortSwitchesThinking: true,
      developerAsSystem: true,
    };
    expect(applyQuirks(body, quirks)).toBeUndefined();
    expect(applyQuirks({ ...body, seed: 1 }, quirks)).toEqual({ ...body, random_seed: 1 });
    expect(body).toEqual(before);
    expect(applyQuirks(body, undefined)).toBeUndefined();
  });

  it.each([
    [{ rename: { a: 'b' } }, { a: 1, b: 2 }, { b: 2 }],
    [{ clamp: { t: [0, 1] as const } }, { t: 1.5 }, { t: 1 }],
    [{ clamp: { t: [0, 1] as const } }, { t: -2 }, { t: 0 }],
    [{ values: { c: { required: 'any' } } }, { c: 'required' }, { c: 'any' }],
    [{ force: { n: 1 } }, {}, { n: 1 }],
    [{ modelPrefix: 'v.' }, { model: 'v.large' }, { model: 'large' }],
    [
      { effortSwitchesThinking: true },
      { reasoning_effort: 'low' },
      { reasoning_effort: 'low', thinking: { type: 'enabled' } },
    ],
    [
      { effortSwitchesThinking: true },
      { reasoning_effort: 'none' },
      { thinking: { type: 'disabled' } },
    ],
    [
      { developerAsSystem: true },
      { messages: [{ role: 'developer', content: 'x' }, 'odd'] },
      { messages: [{ role: 'system', content: 'x' }, 'odd'] },
    ],
  ])('with %j makes of %j', (quirks, body, expected) => {
    expect(applyQuirks(body, quirks)).toEqual(expected);
  });

  it.each([
    [{ clamp: { t: [0, 1] as const } }, { t: 'hot' }],
    [{ values: { c: { required: 'any' } } }, { c: 'constructor' }],
    [{ values: { c: { required: 'any' } } }, { c: { type: 'function' } }],
  ])('with %j leaves %j', (quirks, body) => {
    expect(applyQuirks(body, quirks)).toBeUndefined();
  });

  it('does not overrule a thinking of the caller', () => {
    const body = { reasoning_effort: 'high', thinking: { type: 'disabled' } };
    expect(applyQuirks(body, { effortSwitchesThinking: true })).toBeUndefined();
  });
});

describe('droppedByQuirks', () => {
  it('names what was there, but not what costs the caller nothing', () => {
    const drop = ['logit_bias', 'logprobs', 'stream_options', 'user'];
    const body = { logit_bias: {}, logprobs: null, stream_options: { include_usage: true } };
    expect(droppedByQuirks(body, { drop })).toEqual(['logit_bias']);
    expect(droppedByQuirks(body, undefined)).toEqual([]);
  });
});
