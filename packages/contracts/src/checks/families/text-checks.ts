import { isLanguage } from '../code-languages.ts';
import type { CheckDeclaration } from '../declaration.ts';
import {
  allAnyNone,
  anyText,
  count,
  flag,
  not,
  parameters,
  subjects,
  text,
  texts,
} from '../parameter-fields.ts';

/** Checks that look at texts by themselves. */
export const textChecks = {
  'default.regexMatch': { parameters: parameters({ rule: text, not, subjects }) },
  'default.regexReplace': {
    parameters: parameters({
      rule: text,
      redactText: anyText.default('[REDACTED]'),
      failOnDetection: flag(false),
      subjects,
    }),
  },
  'default.sentenceCount': {
    parameters: parameters({ minSentences: count(0), maxSentences: count(99_999), not, subjects }),
  },
  'default.wordCount': {
    parameters: parameters({ minWords: count(0), maxWords: count(99_999), not, subjects }),
  },
  'default.characterCount': {
    parameters: parameters({
      minCharacters: count(0),
      maxCharacters: count(9_999_999),
      not,
      subjects,
    }),
  },
  'default.contains': {
    parameters: parameters({ words: texts, operator: allAnyNone.default('any'), subjects }),
  },
  'default.containsCode': {
    parameters: parameters({
      format: text.refine(isLanguage, 'is no language that is known'),
      not,
      subjects,
    }),
  },
  'default.endsWith': { parameters: parameters({ suffix: text, not, subjects }) },
  'default.alluppercase': { parameters: parameters({ not, subjects }) },
  'default.alllowercase': {
    aliases: ['default.isAllLowerCase'],
    parameters: parameters({ not, subjects }),
  },
  'default.jsonKeys': {
    parameters: parameters({ keys: texts, operator: allAnyNone.default('any'), subjects }),
  },
  'default.notNull': { parameters: parameters({ not }) },
  'default.addPrefix': {
    parameters: parameters({
      prefix: text,
      applyToRole: text.default('user'),
      /** Into the message; otherwise as a message of its own before it. */
      addToExisting: flag(true),
      /** Leaves messages that have content alone. */
      onlyIfEmpty: flag(false),
    }),
  },
} satisfies Record<string, CheckDeclaration>;
