import { list, look, made, named, remove, write } from './object-row.ts';
import type { ObjectOperation } from './operation.ts';

const ofSkill = { of: 'skills', objects: { names: named('skill', 'path.skill_id') } } as const;

/**
 * Folders of instructions and code that a container is given. Paths are those of OpenAI's and Anthropic's API references,
 * November 2026; each has some that the other has not.
 */
export const skillRows = {
  listSkills: { ...list('skill'), of: 'skills', at: 'GET /v1/skills' },
  createSkill: {
    ...write,
    of: 'skills',
    takes: 'anything',
    objects: { makes: [made('skill', 'skill')] },
    at: 'POST /v1/skills',
  },
  getSkill: { ...look, ...ofSkill, at: 'GET /v1/skills/:skill_id' },
  updateSkill: { ...write, ...ofSkill, at: 'POST /v1/skills/:skill_id' },
  deleteSkill: { ...remove, ...ofSkill, at: 'DELETE /v1/skills/:skill_id' },
  getSkillContent: { ...look, ...ofSkill, at: 'GET /v1/skills/:skill_id/content' },
  listSkillVersions: { ...look, ...ofSkill, at: 'GET /v1/skills/:skill_id/versions' },
  createSkillVersion: {
    ...write,
    ...ofSkill,
    takes: 'anything',
    at: 'POST /v1/skills/:skill_id/versions',
  },
  getSkillVersion: { ...look, ...ofSkill, at: 'GET /v1/skills/:skill_id/versions/:version' },
  deleteSkillVersion: {
    ...remove,
    ...ofSkill,
    at: 'DELETE /v1/skills/:skill_id/versions/:version',
  },
  getSkillVersionContent: {
    ...look,
    ...ofSkill,
    at: 'GET /v1/skills/:skill_id/versions/:version/content',
  },
} as const satisfies Readonly<Record<string, ObjectOperation>>;
