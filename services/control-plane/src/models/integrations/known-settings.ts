import { isDeepStrictEqual } from 'node:util';
import { generalSettings, headerValue, publishedSettings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { faultOfTls } from '@sluice/outbound';
import {
  findProvider,
  type KeptSetting,
  keptSettings,
  keyForm,
  type ProviderEntry,
  type SettingForm,
} from '@sluice/providers';
import type { InputNotes } from '../../kernel/http/parse-input.ts';
import { nearestAdvice } from '../../kernel/names/nearest.ts';
import type { Calling, NameSetting } from './guard-credentials.ts';

interface Change {
  readonly before: Calling;
  /** With what the change keeps, and the secrets that masks stand for. */
  readonly after: Calling;
}

/** Before there is anything. */
export const nothingKept: Calling = { key: null, configurations: {}, mappings: [] };

interface Fault {
  readonly field: string;
  readonly message: string;
}

/**
 * Refuses of what a change sets what its provider does not have, or could not
 * use: a key, settings, and settings that secrets are put into. What others of
 * the published description have is named in a warning; so is, for lenient
 * callers, what nobody has.
 * @throws 400 with the path of every fault
 */
export function checkSettings(
  provider: string,
  change: Change,
  fieldOf: NameSetting,
  notes: InputNotes,
): void {
  const entry = findProvider(provider);
  if (entry === undefined) return;
  const faults = [
    ...keyFaults(entry, change),
    ...settingFaults(entry, change, fieldOf, notes),
    ...targetFaults(entry, change, notes),
    ...tlsFaults(change, fieldOf),
  ];
  const [first] = faults;
  if (first === undefined) return;
  throw new GatewayError('admin.validation', {
    ...first,
    faults: faults.slice(0, 20).map(({ message }) => message),
  });
}

function keyFaults(entry: ProviderEntry, { before, after }: Change): Fault[] {
  if (after.key === null || after.key === before.key) return [];
  const fault = faultOf(keyForm(entry), after.key);
  return fault === undefined ? [] : [{ field: 'body.key', message: `body.key: ${fault}` }];
}

function settingFaults(
  entry: ProviderEntry,
  { before: { configurations: before }, after: { configurations: after } }: Change,
  fieldOf: NameSetting,
  notes: InputNotes,
): Fault[] {
  const known = keptSettings(entry);
  return Object.entries(after)
    .filter(([name, value]) => !isKept(before, name, value))
    .flatMap(([name, value]): Fault[] => {
      const field = fieldOf(name);
      const setting = known.find((each) => isCalled(each.name, name));
      if (setting === undefined) return unknownFaults(entry, known, name, field, notes);
      const fault = faultOf(setting.form, value);
      return fault === undefined ? [] : [{ field, message: `${field}: ${fault}` }];
    });
}

const tlsSettings = ['tls_ca', 'tls_cert', 'tls_key'] as const;

/** Who is trusted and who we are said to be must be readable, once it is said; a secret may come into it later. */
function tlsFaults({ before, after }: Change, fieldOf: NameSetting): Fault[] {
  const named = (setting: string) =>
    Object.keys(after.configurations).find((name) => isCalled(setting, name));
  const isSaid = tlsSettings.some((setting) => {
    const name = named(setting);
    return name !== undefined && !isKept(before.configurations, name, after.configurations[name]);
  });
  if (!isSaid) return [];
  if (after.mappings.some(({ target_field: target }) => /^configurations\.tls/.test(target)))
    return [];
  const fault = faultOfTls(after.configurations);
  if (fault === undefined) return [];
  const field = fieldOf(named(fault.setting) ?? fault.setting);
  return [{ field, message: `${field}: ${fault.message}` }];
}

function targetFaults(entry: ProviderEntry, { before, after }: Change, notes: InputNotes): Fault[] {
  const known = keptSettings(entry);
  const kept = new Set(before.mappings.map((mapping) => mapping.target_field));
  return after.mappings.flatMap(({ target_field: target }, index): Fault[] => {
    // What lies below a setting is its own: a header of `custom_headers`.
    const name = /^configurations\.([^.]*)/.exec(target)?.[1];
    if (name === undefined || kept.has(target)) return [];
    if (known.some((each) => isCalled(each.name, name))) return [];
    const field = `body.secret_mappings[${index}].target_field`;
    return unknownFaults(entry, known, name, field, notes);
  });
}

/** Of a name that the provider does not have, unless every provider has it. */
function unknownFaults(
  entry: ProviderEntry,
  known: readonly KeptSetting[],
  name: string,
  field: string,
  notes: InputNotes,
): Fault[] {
  if (generalSettings.some((each) => isCalled(each, name))) return [];
  const message = `${field}: is no setting of ${entry.id}`;
  if (publishedSettings.includes(name)) {
    notes.warnings.push(`${message}, and does nothing there`);
    return [];
  }
  const names = [...known.map((each) => each.name), ...generalSettings];
  const fault = `${message}${nearestAdvice(name, names)}`;
  if (!notes.isLenient) return [{ field, message: fault }];
  notes.warnings.push(fault);
  return [];
}

/** What was kept before this was checked stands until somebody changes it. */
function isKept(before: Calling['configurations'], name: string, value: unknown): boolean {
  return Object.hasOwn(before, name) && isDeepStrictEqual(before[name], value);
}

/** Gateways read `aws_region` and `awsRegion` alike. */
function isCalled(setting: string, name: string): boolean {
  return (
    setting === name ||
    setting.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) === name
  );
}

const shapes: Readonly<Record<SettingForm, string>> = {
  header: 'must be a text',
  word: 'must be a text',
  text: 'must be a text',
  list: 'must be a list, or the JSON of one',
  object: 'must be an object, or the JSON of one',
};

function faultOf(form: SettingForm, value: unknown): string | undefined {
  if (typeof value === 'object') {
    const isOfForm =
      form === 'list' ? Array.isArray(value) : form === 'object' && !Array.isArray(value);
    return isOfForm ? undefined : shapes[form];
  }
  if (typeof value !== 'string')
    return form === 'list' || form === 'object' ? shapes[form] : undefined;
  if (form === 'header' && !headerValue.pattern.test(value)) return headerValue.message;
  if (form === 'word' && /\p{Cc}/u.test(value)) return 'must not hold control characters';
  return undefined;
}
