import { expect, it } from 'vitest';
import { ControlPlaneState } from './control-plane-state.ts';

/** A state whose control plane is away for the reason that is set, and what the log says. */
function watched(pepperNames = ['a']) {
  const lines: [string, Record<string, unknown>, string][] = [];
  const keep = (level: string) => (fields: Record<string, unknown>, text: string) =>
    void lines.push([level, fields, text]);
  const logger = { info: keep('info'), warn: keep('warn'), error: keep('error') } as never;
  const away: { reason: string | undefined } = { reason: undefined };
  const state = new ControlPlaneState({
    address: 'cp:8790',
    pepperNames,
    why: async () => away.reason,
    logger,
  });
  return { state, away, lines, said: () => lines.map(([, , text]) => text.split(/[,;:]/)[0]) };
}

it('says once why the control plane is away, with the address, and again when the reason is another', async () => {
  const { state, away, lines } = watched();
  for (const reason of ['refused', 'refused', 'wrong token', 'wrong token', 'refused']) {
    away.reason = reason;
    await state.look(false);
  }
  expect(lines.map(([level, { address, reason }]) => [level, address, reason])).toEqual([
    ['warn', 'cp:8790', 'refused'],
    ['warn', 'cp:8790', 'wrong token'],
    ['warn', 'cp:8790', 'refused'],
  ]);
});

it('says when it is there again, and the same reason anew after that', async () => {
  const { state, away, said } = watched();
  away.reason = 'refused';
  await state.look(true);
  state.ready([], {});
  await state.look(true);
  state.lost();
  await state.look(true);
  await state.look(true);
  expect(said()).toEqual([
    'the control plane is away',
    'watching the control plane',
    'the control plane is away',
  ]);
});

it('knows a control plane of another pepper, and takes one that says nothing or knows any of those here', () => {
  const { state, lines } = watched(['new', 'old']);
  state.ready([], {});
  expect(state.pepperDiffers).toBe(false);
  state.ready(['old'], {});
  expect(state.pepperDiffers).toBe(false);
  state.ready(['other'], {});
  state.ready(['other'], {});
  expect(state.pepperDiffers).toBe(true);
  state.ready(['new'], {});
  expect(state.pepperDiffers).toBe(false);
  expect(lines.filter(([level]) => level === 'error')).toHaveLength(1);
});
