import { isDeepStrictEqual } from 'node:util';
import { generalSettings, publishedSettings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { findProvider, type KeptSetting, keptSettings, type SettingForm } from '@sluice/providers';
import type { InputNotes } from '../../kernel/http/parse-input.ts';
import { nearestAdvice } from '../../kernel/names/nearest.ts';
import type { NameSetting } from './guard-credentials.ts';

interface Change {
  readonly before: Readonly<Record<string, unknown>>;
  /** With what the change keeps, and the secrets that masks stand for. */
  readonly after: Readonly<Record<string, unknown>>;
}

/**
 * Refuses of what a change sets what its provider does not have, or could not
 * use. What others of the published description have is named in a warning; so
 * is, for lenient callers, what nobody has.
 * @throws 400 with the path of every fault
 */
export function checkSettings(
  provider: string,
  { before, after }: Change,
  fieldOf: NameSetting,
  notes: InputNotes,
): void {
  const entry = findProvider(provider);
  if (entry === undefined) return;
  const known = keptSettings(entry);
  const faults: { field: string; message: string }[] = [];
  for (const [name, value] of Object.entries(after)) {
    const field = fieldOf(name);
    const setting = known.find((each) => isCalled(each.name, name));
    if (setting !== undefined) {
      const fault = faultOf(setting, value);
      if (fault !== undefined && !isKept(before, name, value))
        faults.push({ field, message: `${field}: ${fault}` });
    } else if (!generalSettings.some((each) => isCalled(each, name))) {
      if (isKept(before, name, value)) continue;
      const message = `${field}: is no setting of ${entry.id}`;
      if (publishedSettings.includes(name))
        notes.warnings.push(`${message}, and does nothing there`);
      else {
        const names = [...known.map((each) => each.name), ...generalSettings];
        const fault = `${message}${nearestAdvice(name, names)}`;
        if (notes.isLenient) notes.warnings.push(fault);
        else faults.push({ field, message: fault });
      }
    }
  }
  const [first] = faults;
  if (first === undefined) return;
  throw new GatewayError('admin.validation', {
    ...first,
    faults: faults.slice(0, 20).map(({ message }) => message),
  });
}

/** What was kept before this was checked stands until somebody changes it. */
function isKept(before: Change['before'], name: string, value: unknown): boolean {
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
  word: 'must be a text',
  text: 'must be a text',
  list: 'must be a list, or the JSON of one',
  object: 'must be an object, or the JSON of one',
};

function faultOf({ form }: KeptSetting, value: unknown): string | undefined {
  if (typeof value === 'object') {
    const isOfForm =
      form === 'list' ? Array.isArray(value) : form === 'object' && !Array.isArray(value);
    return isOfForm ? undefined : shapes[form];
  }
  if (typeof value === 'string')
    return form === 'word' && /\p{Cc}/u.test(value)
      ? 'must not hold control characters'
      : undefined;
  return form === 'word' || form === 'text' ? undefined : shapes[form];
}
