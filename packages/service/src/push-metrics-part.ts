import { hostname } from 'node:os';
import { SettingsError } from '@sluice/env';
import type { Logger, Metrics } from '@sluice/telemetry';
import type { Part } from './part.ts';

/** What is told of pushing: `processSettings`. */
export interface PushEnv {
  readonly SERVICE_NAME: string;
  readonly PROMETHEUS_PUSH_ENABLED?: boolean;
  readonly PROMETHEUS_GATEWAY_URL?: string | undefined;
  readonly PROMETHEUS_GATEWAY_AUTH?: string | undefined;
  readonly PROMETHEUS_PUSH_INTERVAL?: number;
}

interface PushParts {
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * Sends all metrics to a Pushgateway every so often, and takes them away there
 * when the service ends. One that is away is told of once, and keeps nobody waiting. https://github.com/prometheus/pushgateway#api
 * @throws Error where it is not told where to send them
 */
export function pushMetricsPart(env: PushEnv, { metrics, logger }: PushParts): Part {
  const { PROMETHEUS_GATEWAY_URL: base, PROMETHEUS_GATEWAY_AUTH: auth } = env;
  if (base === undefined)
    throw new SettingsError([
      'PROMETHEUS_PUSH_ENABLED needs PROMETHEUS_GATEWAY_URL: where metrics are sent',
    ]);
  const labels = ['job', env.SERVICE_NAME, 'instance', hostname()].map(encodeURIComponent);
  const url = `${base.replace(/\/+$/, '')}/metrics/${labels.join('/')}`;
  const headers = {
    'content-type': metrics.registry.contentType,
    ...(auth === undefined ? {} : { authorization: authorizationOf(auth) }),
  };
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let pushing: Promise<void> | undefined;
  let isAway = false;

  const send = async (method: 'PUT' | 'DELETE', until: AbortSignal) => {
    const body = method === 'PUT' ? await metrics.text() : undefined;
    const answer = await fetch(url, { method, headers, body, signal: until, redirect: 'error' });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`the Pushgateway answered with status ${answer.status}`);
  };
  const push = async () => {
    try {
      await send('PUT', AbortSignal.any([AbortSignal.timeout(pushMsMax), stopping.signal]));
      if (isAway) logger.info('metrics are taken by the Pushgateway again');
      isAway = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      if (!isAway) logger.warn({ err: error }, 'metrics could not be sent to the Pushgateway');
      isAway = true;
    }
    if (!stopping.signal.aborted) timer = setTimeout(start, env.PROMETHEUS_PUSH_INTERVAL).unref();
  };
  const start = () => {
    pushing = push();
  };

  return {
    name: 'metrics-push',
    start,
    async stop(deadlineMs) {
      stopping.abort();
      clearTimeout(timer);
      // What is under way would bring back what is taken away.
      await pushing;
      await send('DELETE', AbortSignal.timeout(Math.min(deleteMsMax, deadlineMs))).catch(
        (error: unknown) =>
          logger.warn({ err: error }, 'metrics of this life stay at the Pushgateway'),
      );
    },
  };
}

/** `user:password` as a Pushgateway wants it; anything with a blank is a whole header. */
function authorizationOf(auth: string): string {
  if (auth.includes(' ')) return auth;
  return `Basic ${Buffer.from(auth).toString('base64')}`;
}

const pushMsMax = 5_000;
const deleteMsMax = 2_000;
