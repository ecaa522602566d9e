import { expect, it } from 'vitest';
import { wasAsked } from './answers.ts';

it('tells a provider’s answer from a refusal of the gateway, whichever prefix its headers have', () => {
  expect(wasAsked({ 'x-service-attempts': '1' })).toBe(true);
  expect(wasAsked({ 'x-acme-attempts': '12', date: '' })).toBe(true);
  expect(wasAsked({ 'x-service-provider': 'openai', 'x-service-attempts': '0' })).toBe(false);
  expect(wasAsked({ 'x-service-request-id': '1', 'retry-after': '1' })).toBe(false);
});
