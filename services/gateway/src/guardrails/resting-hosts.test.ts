import { CheckError } from '@sluice/guardrails';
import { describe, expect, it, vi } from 'vitest';
import type { Asking } from './asking.ts';
import { HostResting, restingHosts } from './resting-hosts.ts';

const request = { method: 'POST', timeoutMs: 100, bytesMax: 100, owner: 'workspace-1' } as const;
const url = 'https://partner.test/check';
const well = { status: 200, headers: {}, body: Buffer.alloc(0) };

function started() {
  let nowMs = 0;
  const ask = vi.fn<Asking['fetch']>().mockRejectedValue(new Error('down'));
  const logger = { info: vi.fn(), warn: vi.fn() };
  const resting = restingHosts(ask, () => nowMs, logger);
  const failing = async (times: number, given = {}) => {
    for (let index = 0; index < times; index += 1)
      await resting(url, { ...request, ...given }).catch(() => {});
  };
  return { ask, resting, failing, logger, pass: (ms: number) => (nowMs += ms) };
}

describe('restingHosts', () => {
  it('asks a host no more after five failures in a row, but for one question every ten seconds', async () => {
    const { ask, resting, failing, pass } = started();
    await failing(5);
    await expect(resting(url, request)).rejects.toBeInstanceOf(HostResting);
    expect(ask).toHaveBeenCalledTimes(5);
    pass(10_000);
    const probe = resting(url, request);
    await expect(resting(url, request)).rejects.toBeInstanceOf(HostResting);
    await expect(probe).rejects.toThrow('down');
    expect(ask).toHaveBeenCalledTimes(6);
    pass(10_000);
    ask.mockResolvedValue(well);
    await resting(url, request);
    await expect(resting(url, request)).resolves.toBe(well);
  });

  it('counts answers of 500 and more, and begins anew with any other', async () => {
    const { ask, resting } = started();
    ask.mockResolvedValue({ ...well, status: 503 });
    for (let index = 0; index < 4; index += 1) await resting(url, request);
    ask.mockResolvedValueOnce({ ...well, status: 401 });
    await resting(url, request);
    for (let index = 0; index < 5; index += 1) await resting(url, request);
    await expect(resting(url, request)).rejects.toBeInstanceOf(HostResting);
  });

  it('keeps workspaces and origins apart', async () => {
    const { ask, resting, failing } = started();
    await failing(5);
    ask.mockResolvedValue(well);
    await expect(resting(url, { ...request, owner: 'workspace-2' })).resolves.toBe(well);
    await expect(resting('https://other.test/check', request)).resolves.toBe(well);
  });

  it('does not count callers who left, nor addresses that we refuse', async () => {
    const { ask, resting, failing } = started();
    await failing(5, { signal: AbortSignal.abort(new Error('the caller left')) });
    ask.mockRejectedValue(Object.assign(new Error('no'), { code: 'host.not_allowed' }));
    await failing(5);
    ask.mockResolvedValue(well);
    await expect(resting(url, request)).resolves.toBe(well);
  });

  it('counts a host that took the time of its guardrail, and not one that had next to none', async () => {
    const { ask, resting, failing, pass } = started();
    const ended = new CheckError('HookDeadlineExceeded', 'The guardrail as a whole took too long.');
    const given = { signal: AbortSignal.abort(ended) };
    const takes = (ms: number) => async () => {
      pass(ms);
      throw ended;
    };
    ask.mockImplementation(takes(20));
    await failing(5, given);
    ask.mockImplementation(takes(400));
    await failing(5, given);
    await expect(resting(url, request)).rejects.toBeInstanceOf(HostResting);
    expect(ask).toHaveBeenCalledTimes(10);
  });

  it('says once that a host is away, and once that it is back', async () => {
    const { ask, resting, failing, logger, pass } = started();
    await failing(4);
    expect(logger.warn).not.toHaveBeenCalled();
    await failing(3);
    for (let turn = 0; turn < 3; turn += 1) {
      pass(10_000);
      await failing(2);
    }
    const facts = { workspace_id: 'workspace-1', host: 'partner.test' };
    expect(logger.warn.mock.calls).toEqual([
      [{ ...facts, reason: 'down' }, expect.stringContaining('is away')],
    ]);
    pass(10_000);
    ask.mockResolvedValue(well);
    await resting(url, request);
    await resting(url, request);
    expect(logger.info.mock.calls).toEqual([
      [{ ...facts, away_ms: expect.any(Number) }, expect.stringContaining('is back')],
    ]);
  });
});
