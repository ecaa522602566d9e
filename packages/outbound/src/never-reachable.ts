import { alwaysBlockedNames, alwaysBlockedSuffixes, clusterControlName } from './blocked-hosts.ts';

/** Whether a name is never called, trusted or not. Asked again for what search domains make of it. */
export function isNeverReachableName(host: string): boolean {
  return (
    alwaysBlockedNames.has(host) ||
    alwaysBlockedSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)) ||
    `.${host}.`.includes(`.${clusterControlName}.`)
  );
}
