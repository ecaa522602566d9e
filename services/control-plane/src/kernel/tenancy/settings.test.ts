import { defaultSettings, metadataSchema } from '@sluice/contracts/admin';
import { describe, expect, it } from 'vitest';
import { checkMetadata, effectiveSettings, openSections } from './settings.ts';

describe('effectiveSettings', () => {
  it('are the defaults where nobody decided anything', () => {
    expect(effectiveSettings({})).toEqual(defaultSettings);
    expect(defaultSettings.prompts.membersWritePrompts).toBe(false);
  });

  it('take a workspace at its word in open sections only', () => {
    const organisation = {
      prompts: { membersWritePrompts: true },
      analytics: { membersViewAnalytics: false },
      workspace_overrides: { prompts: true },
    };
    const workspace = {
      prompts: { managersWritePrompts: false },
      analytics: { membersViewAnalytics: true },
      joining: { invite_ttl: 1 },
    };
    const settings = effectiveSettings(organisation, workspace);
    expect(settings.prompts).toMatchObject({
      membersWritePrompts: true,
      managersWritePrompts: false,
    });
    expect(settings.analytics.membersViewAnalytics).toBe(false);
    expect(settings.joining).toEqual(defaultSettings.joining);
    expect(openSections(organisation)).toEqual(['prompts']);
  });
});

describe('checkMetadata', () => {
  const schema = metadataSchema.parse({
    type: 'object',
    additionalProperties: true,
    properties: {
      team: { type: 'string', enum: ['red', 'blue'], default: 'red' },
      owner: { type: 'string' },
    },
    required: ['team', 'owner', 'constructor'],
  });

  it('fills in defaults, and lets given values win', () => {
    const given = { owner: 'ann', constructor: 'x' };
    expect(checkMetadata(schema, given, 'body.metadata')).toEqual({ team: 'red', ...given });
    expect(checkMetadata(schema, { ...given, team: 'blue' }, 'm').team).toBe('blue');
  });

  it.each([
    [{ constructor: 'x' }, 'body.metadata.owner: is required by the organisation'],
    [{ owner: 'ann' }, 'body.metadata.constructor: is required by the organisation'],
    [{ owner: 'ann', team: 'green' }, 'body.metadata.team: must be one of red, blue'],
  ])('refuses %j and names the entry', (metadata, message) => {
    expect(() =>
      checkMetadata(schema, metadata as Record<string, string>, 'body.metadata'),
    ).toThrow(message);
  });

  it('leaves metadata alone where no schema is set', () => {
    expect(checkMetadata(null, { any: 'thing' }, 'm')).toEqual({ any: 'thing' });
  });
});

describe('metadataSchema', () => {
  it.each([
    ['a keyword that nobody would keep', { properties: { a: { type: 'string', pattern: 'x' } } }],
    ['a property that is no text', { properties: { a: { type: 'number' } } }],
    [
      'a default that is not allowed',
      { properties: { a: { type: 'string', enum: ['x'], default: 'y' } } },
    ],
    ['closed objects', { additionalProperties: false }],
  ])('refuses %s', (_case, change) => {
    expect(
      metadataSchema.safeParse({ type: 'object', additionalProperties: true, ...change }).success,
    ).toBe(false);
  });
});
