import { configFault } from './config-fault.ts';
import type { RoutingFacts } from './plan.ts';

export type FieldValue = string | number | boolean | null;

/** One value of what conditions look at, by name: of a request, what sticky keys are made of, too. */
export interface RequestField<Facts = RoutingFacts> {
  /** `metadata.tier`, `params.model`, `headers.x-team`, `url.pathname`. */
  readonly name: string;
  /** Must not be shown to anybody. */
  readonly isSecret: boolean;
  /** Undefined = the request has no such value, or it is an object or an array. */
  read(facts: Facts): FieldValue | undefined;
  /** Where it may be a list: its values; undefined = it is none. */
  readAll?(facts: Facts): readonly FieldValue[] | typeof beyondMeasure | undefined;
}

/** A list so long that nobody looks at its values. */
export const beyondMeasure = Symbol('beyond measure');

/** @throws GatewayError `config.invalid` naming `path` */
export type ParseField<Facts> = (name: string, path: string) => RequestField<Facts>;

/**
 * Reads a name of exactly two parts.
 * @throws GatewayError `config.invalid` naming `path`
 */
export function parseRequestField(name: string, path: string): RequestField {
  const dot = name.indexOf('.');
  const source = name.slice(0, Math.max(dot, 0));
  const key = name.slice(dot + 1);
  if (dot < 0 || key === '' || key.includes('.'))
    throw configFault(path, 'must name a field of two parts, e.g. metadata.user_id');
  switch (source) {
    case 'metadata':
      return field(name, (facts) => ownValue(facts.metadata, key));
    case 'params':
      return field(name, (facts) => ownValue(facts.params, key));
    case 'headers': {
      const header = key.toLowerCase();
      return {
        name: `headers.${header}`,
        isSecret: isSecretHeader(header),
        read: (facts) => {
          if (!Object.hasOwn(facts.headers, header)) return undefined;
          const value = facts.headers[header];
          // A header sent twice, as HTTP joins it.
          return Array.isArray(value) ? value.join(', ') : value;
        },
      };
    }
    case 'url':
      if (key === 'pathname') return field(name, (facts) => facts.pathname);
  }
  throw configFault(path, 'must begin with metadata., params. or headers., or be url.pathname');
}

function field(name: string, read: RequestField['read']): RequestField {
  return { name, isSecret: false, read };
}

/** Inherited names such as `constructor` are not values of the request. */
export function ownValue(
  holder: Readonly<Record<string, unknown>>,
  key: string,
): FieldValue | undefined {
  if (!Object.hasOwn(holder, key)) return undefined;
  const value = holder[key];
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (value === null) return null;
  return undefined;
}

/** What a list holds that can be compared. */
export function ownValues(
  holder: Readonly<Record<string, unknown>>,
  key: string,
): readonly FieldValue[] | typeof beyondMeasure | undefined {
  const value = Object.hasOwn(holder, key) ? holder[key] : undefined;
  if (!Array.isArray(value)) return undefined;
  if (value.length > valuesMax) return beyondMeasure;
  return value.filter(
    (item) => item === null || ['string', 'number', 'boolean'].includes(typeof item),
  ) as FieldValue[];
}

const valuesMax = 1000;

const secretHeader = /^(?:proxy-)?authorization$|^(?:set-)?cookie$|key$|token$|secret|password/;

function isSecretHeader(name: string): boolean {
  return secretHeader.test(name);
}
