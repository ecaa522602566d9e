import { z } from 'zod';
import { flag, text, texts } from '../parameter-fields.ts';
import {
  apiKey,
  baseAddress,
  credentials,
  hostName,
  partnerParameters,
  secret,
} from '../partner-fields.ts';

/** Partners with one check and few settings. */
export const furtherChecks = {
  'crowdstrike-aidr.guardChatCompletions': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, baseUrl: baseAddress }),
    }),
  },
  'f5-guardrails.scan': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, calypsoUrl: baseAddress.optional() }),
      projectId: text,
      redact: flag(false),
    }),
  },
  'javelin.guardrails': {
    parameters: partnerParameters({
      credentials: credentials({
        apiKey: secret,
        domain: hostName.default('api-dev.javelin.live'),
        application: secret.optional(),
      }),
    }),
  },
  'lakera.guard': {
    parameters: partnerParameters(
      {
        credentials: credentials({ apiKey: secret, baseURL: baseAddress.optional() }),
        projectID: text.optional(),
        /** Whether ends of what was found are themselves part of it. */
        endInclusive: flag(false),
      },
      30_000,
    ),
  },
  'promptsecurity.protectPrompt': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, apiDomain: hostName }),
    }),
  },
  'promptsecurity.protectResponse': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, apiDomain: hostName }),
    }),
  },
  'walledai.walledprotect': {
    parameters: partnerParameters({
      credentials: apiKey,
      generic_safety_check: flag(true),
      greetings_list: texts.default(['Casual & Friendly']),
      pii_list: texts.default([
        "Person's Name",
        'Address',
        'Email Id',
        'Contact No',
        'Date Of Birth',
        'Unique Id',
        'Financial Data',
      ]),
      compliance_list: z.array(text).max(100).default([]),
    }),
  },
  'zscaler.scan': {
    parameters: partnerParameters(
      {
        credentials: credentials({ apiKey: secret, baseURL: baseAddress.optional() }),
        policyId: z.union([z.int().min(1), z.string().regex(/^[1-9]\d{0,14}$/)]).transform(Number),
      },
      10_000,
    ),
  },
  'cato.analyze': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, baseURL: baseAddress.optional() }),
      userEmail: secret.optional(),
      keyAlias: secret.optional(),
    }),
  },
};
