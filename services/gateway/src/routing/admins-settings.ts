import { baseUrlOf, type ReadSetting, readSettings } from '@sluice/providers';
import type { Outgoing } from './outgoing.ts';
import type { Target } from './target.ts';

/** Hosts of clouds that nobody else can answer at, whatever a caller makes of the region. */
const cloudHosts = /\.(?:amazonaws\.com|googleapis\.com)$/;

/**
 * The settings of a saved provider as admins wrote them. Undefined where a
 * caller or a config had a say in who is asked: at such an address nothing
 * may be shown that is not theirs.
 */
export function adminsSettings(
  { saved, customHost, entry }: Target,
  { origin, call, context }: Pick<Outgoing, 'origin' | 'call' | 'context'>,
): ReadSetting | undefined {
  if (saved === undefined) return undefined;
  const setting = readSettings(entry, saved.configurations, {});
  if (customHost !== undefined) return customHost.by === 'admin' ? setting : undefined;
  if (cloudHosts.test(new URL(origin).hostname)) return setting;
  try {
    const url = new URL(baseUrlOf(entry, call?.entry, { ...context, setting }));
    return url.origin === origin ? setting : undefined;
  } catch {
    // Their settings alone make no address.
    return undefined;
  }
}
