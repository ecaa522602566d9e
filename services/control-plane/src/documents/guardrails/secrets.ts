import type { GuardrailCheck } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { guardKeptSecrets } from '../../kernel/credentials/guard-kept-secrets.ts';
import { isHeaderMap } from '../../kernel/credentials/header-maps.ts';
import { isSecretName } from '../../kernel/credentials/mask.ts';
import {
  fieldOf,
  isMask,
  type Mask,
  maskOfAddress,
  maskValue,
  type Path,
} from '../../kernel/credentials/secret-fields.ts';

/** Parameters that only sound like secrets, or hold documents of the caller's in which names mean nothing. */
const openNames = new Set([
  'headerKey',
  'keys',
  'metadataKeys',
  'metadataPairs',
  'claimValues',
  'headerPayloadMatch',
  'schema',
  'rules',
  'params',
  'tools',
]);

type Change = (value: string, path: readonly string[], mask: Mask) => string;

/** The checks as they may be shown: values of headers, credentials, those in addresses, and whatever is named like a secret are masked. */
export function shownChecks(checks: readonly GuardrailCheck[]): GuardrailCheck[] {
  return checks.map((check) => ({
    ...check,
    parameters: mapSecrets(check.parameters, (value, _path, mask) => mask(value)),
  }));
}

/**
 * New checks that take over the secrets of the ones before wherever a mask
 * stands as it was shown. The check of the same id is meant, the one at the
 * same place if there are several. A secret stays with the addresses of its check.
 * @throws 400 with the path of a mask of nothing, `admin.secret_required` when an address changed
 */
export function withKeptSecrets(
  before: readonly GuardrailCheck[],
  after: readonly GuardrailCheck[],
): GuardrailCheck[] {
  const meant = after.map((check, index) => {
    const same = before.filter(({ id }) => id === check.id);
    const here = before[index];
    const candidates = here?.id === check.id ? [here, ...same] : same;
    const keep: Change = (value, path, mask) => {
      const kept = candidates
        .map((candidate) => textAt(candidate.parameters, path))
        .find((stored) => stored !== undefined && mask(stored) === value);
      if (kept === undefined && isMask(value))
        throw invalidField(
          fieldOf(`body.checks[${index}].parameters`, path),
          'is masked: send its value',
        );
      return kept ?? value;
    };
    return { ...check, parameters: mapSecrets(check.parameters, keep) };
  });
  guardKeptSecrets(holdersOf(before), holdersOf(meant), after);
  return meant;
}

/** Each check calls somebody else. */
function holdersOf(checks: readonly GuardrailCheck[]) {
  const shown = shownChecks(checks);
  return checks.map(({ id, parameters }, index) => ({
    document: { id, parameters },
    shown: { id, parameters: shown[index]?.parameters },
    fieldOf: (path: Path) => fieldOf(`body.checks[${index}]`, path),
  }));
}

/** A copy with every text that is secret changed. */
function mapSecrets(parameters: Record<string, unknown>, change: Change): Record<string, unknown> {
  const visit = (value: unknown, path: readonly string[], isSecret: boolean): unknown => {
    if (typeof value === 'string') {
      const mask = isSecret ? maskValue : maskOfAddress(value);
      return mask === undefined ? value : change(value, path, mask);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value))
      return value.map((item, index) => visit(item, [...path, String(index)], isSecret));
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        path.length === 0 && openNames.has(name)
          ? inner
          : visit(inner, [...path, name], isSecret || isHeaderMap(name) || isSecretName(name)),
      ]),
    );
  };
  return visit(parameters, [], false) as Record<string, unknown>;
}

function textAt(parameters: Record<string, unknown>, path: readonly string[]): string | undefined {
  let value: unknown = parameters;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return typeof value === 'string' ? value : undefined;
}
