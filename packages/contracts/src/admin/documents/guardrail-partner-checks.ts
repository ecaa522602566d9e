import { z } from 'zod';
import {
  flag,
  fraction,
  parameters,
  someOf,
  text,
  timeoutMs,
} from '../../checks/parameter-fields.ts';

const timeout = timeoutMs(5000);
const timed = parameters({ timeout });
const redacting = parameters({ redact: flag(false), timeout });
const scanning = parameters({
  scanners: someOf([
    'prompt_injection',
    'pii',
    'secrets',
    'toxic_language',
    'invisible_characters',
  ]).min(1),
  timeout,
});

/** Each of Acuvity's detectors that has a threshold. */
const acuvityDetectors = {
  prompt_injection: flag(true),
  prompt_injection_threshold: fraction,
  toxic: flag(true),
  toxic_threshold: fraction,
  jail_break: flag(true),
  jail_break_threshold: fraction,
  malicious_url: flag(true),
  malicious_url_threshold: fraction,
  biased: flag(true),
  biased_threshold: fraction,
  harmful: flag(true),
  harmful_threshold: fraction,
};

/** Checks that other services make, with what each can be told. All take `credentials` too. */
export const partnerChecks = {
  'sydelabs.sydeguard': parameters({
    prompt_injection_threshold: fraction,
    toxicity_threshold: fraction,
    evasion_threshold: fraction,
    timeout,
  }),
  'aporia.validateProject': parameters({ projectID: text, timeout }),
  'pillar.scanPrompt': scanning,
  'pillar.scanResponse': scanning,
  'patronus.phi': redacting,
  'patronus.pii': redacting,
  'patronus.isConcise': redacting,
  'patronus.isHelpful': redacting,
  'patronus.isPolite': redacting,
  'patronus.noApologies': redacting,
  'patronus.noGenderBias': redacting,
  'patronus.noRacialBias': redacting,
  'patronus.retrievalAnswerRelevance': redacting,
  'patronus.toxicity': redacting,
  'patronus.custom': parameters({ profile: text, timeout: timeoutMs(15_000) }),
  'mistral.moderateContent': parameters({
    categories: someOf([
      'sexual',
      'hate_and_discrimination',
      'violence_and_threats',
      'dangerous_and_criminal_content',
      'selfharm',
      'health',
      'financial',
      'law',
      'pii',
    ]).min(1),
    timeout,
  }),
  'promptfoo.guard': redacting,
  'promptfoo.pii': redacting,
  'promptfoo.harm': redacting,
  'acuvity.scan': parameters({
    ...acuvityDetectors,
    language: flag(true),
    language_values: z
      .enum(['english', 'chinese', 'spanish', 'french', 'german', 'japanese', 'gibberish'])
      .default('english'),
    pii: flag(true),
    pii_redact: flag(false),
    pii_categories: someOf([
      'email_address',
      'ssn',
      'person',
      'aba_routing_number',
      'address',
      'bank_account',
      'bitcoin_wallet',
      'credit_card',
      'driver_license',
      'itin_number',
      'location',
      'medical_license',
      'money_amount',
      'passport_number',
      'phone_number',
    ]).optional(),
    secrets: flag(true),
    secrets_redact: flag(false),
    secrets_categories: someOf([
      'credentials',
      'aws_secret_key',
      'github',
      'openai',
      'stripe',
      'jwt',
      'private_key',
    ]).optional(),
    timeout,
  }),
  'lasso.classify': timed,
  'panw-prisma-airs.intercept': parameters({
    profile_name: text,
    ai_model: text.optional(),
    app_user: text.optional(),
  }),
};
