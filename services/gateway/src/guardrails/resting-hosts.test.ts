import { describe, expect, it, vi } from 'vitest';
import type { Asking } from './ask-host.ts';
import { HostResting, restingHosts } from './resting-hosts.ts';

const request = { method: 'POST', timeoutMs: 100, bytesMax: 100, owner: 'workspace-1' } as const;
const url = 'https://partner.test/check';
const well = { status: 200, headers: {}, body: Buffer.alloc(0) };

function started() {
  let nowMs = 0;
  const ask = vi.fn<Asking['fetch']>().mockRejectedValue(new Error('down'));
  const resting = restingHosts(ask, () => nowMs);
  const failing = async (times: number, given = {}) => {
    for (let index = 0; index < times; index += 1)
      await resting(url, { ...request, ...given }).catch(() => {});
  };
  return { ask, resting, failing, pass: (ms: number) => (nowMs += ms) };
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
});
