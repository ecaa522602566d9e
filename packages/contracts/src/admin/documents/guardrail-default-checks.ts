import { z } from 'zod';
import { requestTypes } from '../../operations/request-types.ts';
import { headersField, hostField } from '../kernel/fields.ts';
import {
  allAnyNone,
  count,
  flag,
  not,
  parameters,
  someOf,
  text,
  texts,
  timeoutMs,
} from './guardrail-fields.ts';

const codeFormats = [
  'SQL',
  'Python',
  'TypeScript',
  'JavaScript',
  'Java',
  'C#',
  'C++',
  'C',
  'Ruby',
  'PHP',
  'Swift',
  'Kotlin',
  'Go',
  'Rust',
  'Scala',
  'R',
  'Perl',
  'Shell',
  'HTML',
  'CSS',
  'XML',
  'JSON',
  'YAML',
  'Markdown',
  'Dockerfile',
] as const;

/** As an object, or as the JSON text of one. */
const headers = z.union([headersField, z.string().max(65_536)]).optional();

const letterCase = parameters({ not });

/** The built-in checks, with what each can be told. */
export const defaultChecks = {
  'default.regexMatch': parameters({ rule: text, not }),
  'default.regexReplace': parameters({
    rule: text,
    redactText: z.string().max(1024).default('[REDACTED]'),
    failOnDetection: flag(false),
  }),
  'default.sentenceCount': parameters({
    minSentences: count(0),
    maxSentences: count(99_999),
    not,
  }),
  'default.wordCount': parameters({ minWords: count(0), maxWords: count(99_999), not }),
  'default.characterCount': parameters({
    minCharacters: count(0),
    maxCharacters: count(9_999_999),
    not,
  }),
  'default.contains': parameters({ words: texts, operator: allAnyNone.default('any') }),
  'default.containsCode': parameters({ format: z.enum(codeFormats), not }),
  'default.endsWith': parameters({ suffix: text, not }),
  'default.alluppercase': letterCase,
  'default.alllowercase': letterCase,
  'default.isAllLowerCase': letterCase,
  'default.jsonSchema': parameters({ schema: z.record(z.string(), z.unknown()), not }),
  'default.jsonKeys': parameters({ keys: texts, operator: allAnyNone.default('any') }),
  'default.validUrls': parameters({ onlyDNS: flag(false), not }),
  'default.notNull': parameters({ not }),
  'default.webhook': parameters({
    webhookURL: hostField,
    headers,
    timeout: timeoutMs(3000),
    failOnError: flag(false),
  }),
  'default.log': parameters({ logURL: hostField, headers, timeout: timeoutMs(3000) }),
  'default.modelWhitelist': parameters({ models: texts, not }),
  'default.modelRules': parameters({ rules: z.record(z.string(), z.unknown()), not }),
  'default.allowedRequestTypes': parameters({
    allowedTypes: someOf(requestTypes).optional(),
    blockedTypes: someOf(requestTypes).optional(),
  }).refine(
    ({ allowedTypes, blockedTypes }) => !allowedTypes?.some((type) => blockedTypes?.includes(type)),
    'allows and blocks the same type',
  ),
  'default.requiredMetadataKeys': parameters({
    metadataKeys: texts,
    operator: allAnyNone.default('all'),
  }),
  'default.requiredMetadataKeyPairs': parameters({
    metadataPairs: z.record(z.string(), z.unknown()),
    operator: allAnyNone.default('all'),
    matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
  }),
  'default.requestParametersCheck': parameters({
    tools: z.record(z.string(), z.unknown()).optional(),
    params: z.record(z.string(), z.unknown()).optional(),
  }),
  'default.addPrefix': parameters({
    prefix: text,
    applyToRole: z.string().min(1).max(64).default('user'),
    addToExisting: flag(true),
    onlyIfEmpty: flag(false),
  }),
  'default.jwt': parameters({
    jwksUri: hostField.optional(),
    jwks: z.record(z.string(), z.unknown()).optional(),
    introspectEndpoint: hostField.optional(),
    headerKey: z.string().min(1).max(128).default('Authorization'),
    cacheMaxAge: z.number().min(0).default(86_400),
    clockTolerance: z.number().min(0).default(5),
    maxTokenAge: z.string().min(1).max(32).default('1d'),
    algorithms: z.array(z.string().min(1).max(16)).max(20).default(['RS256']),
  }).refine(
    ({ jwksUri, jwks, introspectEndpoint }) =>
      (jwksUri ?? jwks ?? introspectEndpoint) !== undefined,
    'needs jwksUri, jwks or introspectEndpoint',
  ),
};
