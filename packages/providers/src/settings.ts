import type { ReadSetting } from './call-facts.ts';
import type { ProviderEntry } from './contract.ts';
import { isSettingList, type SettingName } from './setting-kinds.ts';

const servicePrefix = 'x-service-';

/**
 * Looks up a provider's settings: what is configured – a config's target before
 * the credential's configurations, under `aws_region` or `awsRegion` – and else
 * the caller's header `x-service-aws-region`, if the provider knows that setting.
 * Of a list, what is configured stands before what the caller's header has.
 */
export function readSettings(
  provider: ProviderEntry,
  configurations: Readonly<Record<string, unknown>>,
  callerHeaders: Readonly<Record<string, string | string[] | undefined>>,
): ReadSetting {
  const { settings = [], bareSettings = [], callerHeaders: travelling = [] } = provider;
  const fromHeader = (name: SettingName): string | undefined => {
    const travels = travelling.includes(name);
    if (!travels && !settings.includes(name)) return undefined;
    const prefixed = header(callerHeaders[namesOf(name).prefixed]);
    if (prefixed !== undefined || !(travels || bareSettings.includes(name))) return prefixed;
    return header(callerHeaders[name]);
  };
  return (name) => {
    const { snake, camel } = namesOf(name);
    const configured = text(configurations[snake]) ?? text(configurations[camel]);
    const known = name as SettingName;
    if (configured === undefined) return fromHeader(known);
    if (!isSettingList(known)) return configured;
    const sent = fromHeader(known);
    return sent === undefined ? configured : joinedLists(configured, sent);
  };
}

/** Entries of two lists with commas, each once. */
export function joinedLists(first: string, second: string): string {
  const entries = `${first},${second}`.split(',').map((entry) => entry.trim());
  return [...new Set(entries)].join(',');
}

interface Names {
  readonly snake: string;
  readonly camel: string;
  readonly prefixed: string;
}

/** Put together once: a name that is made anew has to be found among all names before anything is looked up by it. */
const known = new Map<string, Names>();

function namesOf(name: string): Names {
  let names = known.get(name);
  if (names === undefined) {
    const snake = name.replaceAll('-', '_');
    const camel = snake.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    names = { snake, camel, prefixed: servicePrefix + name };
    known.set(name, names);
  }
  return names;
}

function header(value: string | string[] | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : String(value);
}

function text(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  // A service account may be stored as the object that it is, deployments as a list.
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
