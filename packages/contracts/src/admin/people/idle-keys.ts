import { type IdleField, isSaid, objectIn, type Shown } from '../kernel/idle-fields.ts';
import { idleLimits } from '../limits/idle-limits.ts';

/** Of a key: what it shows, in the words of who makes one. */
export function idleOfKey(key: Shown): readonly IdleField[] {
  if (key.type === 'organisation-service') return idleOfOrganisationKey(key);
  const idle = [...idleLimits(key)];
  if (isSaid(key.alert_emails) && !isSaid(key.usage_limits))
    idle.push({
      path: 'alert_emails',
      why: 'alerts are of a budget, and this key has no usage_limits',
      by: ['usage_limits'],
    });
  return idle;
}

/** It calls no model, so that there is nothing to limit, and no config to follow. */
function idleOfOrganisationKey(key: Shown): readonly IdleField[] {
  const why = 'an organisation key calls no models';
  const { config_id: config, allow_config_override: override } = objectIn(key, 'defaults');
  return [
    ...['usage_limits', 'rate_limits', 'alert_emails']
      .filter((path) => isSaid(key[path]))
      .map((path) => ({ path, why })),
    ...(config == null ? [] : [{ path: 'defaults.config_id', why }]),
    ...(override === false ? [{ path: 'defaults.allow_config_override', why }] : []),
  ];
}
