import type { Correction } from './correction.ts';
import { atAnthropic, gatewayModel, readOn } from './lists.ts';

const claudePrices = 'https://platform.claude.com/docs/en/about-claude/pricing';
/** Read from that page by those who keep it. */
const claudeAudit = 'https://github.com/kurofune/claudit/releases/tag/v1.9.2';
const ofAnthropic = { providers: atAnthropic, readOn };

export const currentClaude: readonly Correction[] = [
  {
    ...ofAnthropic,
    models: /^claude-haiku-5-5$/,
    source: claudeAudit,
    perMillionTokens: {
      input: 0.1,
      cacheRead: 0.01,
      cacheWrite: 0.125,
      cacheWrite1h: 0.2,
      output: 0.5,
    },
    contextTiers: [
      {
        above: 100_000,
        perMillionTokens: {
          input: 0.5,
          cacheRead: 0.05,
          cacheWrite: 0.625,
          cacheWrite1h: 1,
          output: 2.5,
        },
      },
    ],
  },
  {
    ...ofAnthropic,
    models: /^claude-sonnet-5-5$/,
    source: claudeAudit,
    from: '2026-10-07',
    perMillionTokens: { cacheRead: 0.1 },
  },
  {
    ...ofAnthropic,
    models: /^claude-fable-5-2$/,
    source: 'https://github.com/archid21/rightsize/releases/tag/v0.10.2',
    perMillionTokens: { input: 8, cacheRead: 0.2, cacheWrite: 10, cacheWrite1h: 16, output: 40 },
  },
  {
    ...ofAnthropic,
    models: /^claude-fable-5-2$/,
    source: gatewayModel('claude-fable-5.2-fast'),
    tiers: { fast: 2 },
  },
  {
    ...ofAnthropic,
    models: /^claude-mythos-5-1$/,
    source: claudePrices,
    perMillionTokens: {
      input: 10,
      cacheRead: 0.25,
      cacheWrite: 12.5,
      cacheWrite1h: 20,
      output: 50,
    },
  },
  {
    ...ofAnthropic,
    models: /^claude-mythos-5$/,
    source: claudePrices,
    perMillionTokens: { input: 10, cacheRead: 1, cacheWrite: 12.5, cacheWrite1h: 20, output: 50 },
  },
];
