import { setTimeout as delay } from 'node:timers/promises';
import { readyTimeoutMs } from './managed-process.ts';

/**
 * Waits until the gateway is in touch with the control plane. It answers known
 * keys without; but the first key of a new installation is known to nobody yet.
 */
export async function gatewayConnected(
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  for (;;) {
    if (await isConnected(host, port)) return;
    signal.throwIfAborted();
    if (Date.now() > deadline)
      throw new Error(
        `The gateway on port ${port} did not reach the control plane within ${readyTimeoutMs / 1000} s.`,
      );
    await delay(50, undefined, { signal });
  }
}

async function isConnected(host: string, port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://${host}:${port}/health/ready`, {
      signal: AbortSignal.timeout(2000),
    });
    const state = (await response.json()) as { control_plane?: unknown };
    return response.ok && state.control_plane === 'connected';
  } catch {
    // Not listening yet, or busy: asked again until the deadline.
    return false;
  }
}
