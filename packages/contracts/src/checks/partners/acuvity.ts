import { z } from 'zod';
import { flag, fraction, someOf } from '../parameter-fields.ts';
import { apiKey, partnerParameters } from '../partner-fields.ts';

/** The token says where it is for: its claim `apex-url`. */
export const acuvityChecks = {
  'acuvity.scan': {
    parameters: partnerParameters({
      credentials: apiKey,
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
    }),
  },
};
