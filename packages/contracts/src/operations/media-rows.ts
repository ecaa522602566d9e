import {
  file,
  goingOn,
  list,
  look,
  made,
  named,
  naming,
  remove,
  say,
  skill,
  write,
} from './object-row.ts';
import type { ObjectFacts, ObjectOperation } from './operation.ts';

const video = goingOn(made('video', 'video'), {
  every: 'RESPONSE_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/videos/:video_id',
  ended: ['completed', 'failed'],
});
const ofVideo = { of: 'videos', objects: { names: named('video', 'path.video_id') } } as const;
const ofContainer = {
  of: 'containers',
  objects: { names: named('container', 'path.container_id') },
} as const;
const ofVoice = { of: 'voices', objects: { names: named('voice', 'path.voice_id') } } as const;
const ofConsent = {
  of: 'voices',
  objects: { names: named('voice consent', 'path.consent_id') },
} as const;

/** What `POST /v1/audio/speech` names: a voice of the caller's own. */
export const speechObjects: ObjectFacts = { names: named('voice', 'body.voice.id') };

/** What `POST /v1/images/edits` names. */
export const editedImages: ObjectFacts = {
  names: file('body.images.*.file_id', 'body.mask.file_id'),
  mayFlow: true,
};

/** A file of the provider's by its id. */
const reference = file('body.input_reference.file_id');
/** Another video. */
const source = named('video', 'body.video.id');
/** What videos are made of. */
export const videoSources = [...reference, ...source];

/**
 * Media that are made over minutes and kept for hours, and what media are made
 * with. Paths and members are those of OpenAI's API reference, November 2026.
 */
export const mediaRows = {
  listVideos: { ...list('video'), of: 'videos', at: 'GET /v1/videos' },
  createVideo: {
    ...say,
    of: 'videos',
    takes: 'form',
    objects: { makes: [video], names: reference },
    at: 'POST /v1/videos',
    bills: 'video',
  },
  editVideo: {
    ...say,
    of: 'videos',
    takes: 'form',
    objects: { makes: [video], names: source },
    at: 'POST /v1/videos/edits',
    bills: 'video',
  },
  extendVideo: {
    ...say,
    of: 'videos',
    takes: 'form',
    objects: { makes: [video], names: source },
    at: 'POST /v1/videos/extensions',
    bills: 'video',
  },
  createVideoCharacter: {
    ...write,
    of: 'videos',
    takes: 'form',
    objects: { makes: [made('character', undefined)] },
    at: 'POST /v1/videos/characters',
  },
  getVideoCharacter: {
    ...look,
    of: 'videos',
    objects: { names: named('character', 'path.character_id') },
    at: 'GET /v1/videos/characters/:character_id',
  },
  getVideo: { ...look, ...ofVideo, at: 'GET /v1/videos/:video_id', bills: 'video' },
  deleteVideo: { ...remove, ...ofVideo, at: 'DELETE /v1/videos/:video_id' },
  getVideoContent: { ...look, ...ofVideo, at: 'GET /v1/videos/:video_id/content' },
  remixVideo: {
    ...say,
    ...naming(ofVideo, [], [video]),
    takes: 'form',
    at: 'POST /v1/videos/:video_id/remix',
    bills: 'video',
  },
  listContainers: { ...list('container'), of: 'containers', at: 'GET /v1/containers' },
  createContainer: {
    ...write,
    of: 'containers',
    objects: {
      makes: [made('container', 'container')],
      names: [...file('body.file_ids.*'), ...skill('body.skills.*.skill_id')],
    },
    at: 'POST /v1/containers',
  },
  getContainer: { ...look, ...ofContainer, at: 'GET /v1/containers/:container_id' },
  deleteContainer: { ...remove, ...ofContainer, at: 'DELETE /v1/containers/:container_id' },
  listContainerFiles: {
    ...look,
    ...ofContainer,
    at: 'GET /v1/containers/:container_id/files',
  },
  createContainerFile: {
    ...write,
    ...naming(ofContainer, file('body.file_id')),
    takes: 'form',
    at: 'POST /v1/containers/:container_id/files',
  },
  getContainerFile: {
    ...look,
    ...ofContainer,
    at: 'GET /v1/containers/:container_id/files/:file_id',
  },
  deleteContainerFile: {
    ...remove,
    ...ofContainer,
    at: 'DELETE /v1/containers/:container_id/files/:file_id',
  },
  getContainerFileContent: {
    ...look,
    ...ofContainer,
    at: 'GET /v1/containers/:container_id/files/:file_id/content',
  },
  createVoice: {
    ...write,
    of: 'voices',
    takes: 'form',
    objects: {
      makes: [made('voice', 'audio.voice')],
      names: named('voice consent', 'body.consent'),
    },
    at: 'POST /v1/audio/voices',
  },
  deleteVoice: { ...remove, ...ofVoice, at: 'DELETE /v1/audio/voices/:voice_id' },
  listVoiceConsents: { ...list('voice consent'), of: 'voices', at: 'GET /v1/audio/voice_consents' },
  createVoiceConsent: {
    ...write,
    of: 'voices',
    takes: 'form',
    objects: { makes: [made('voice consent', 'audio.voice_consent')] },
    at: 'POST /v1/audio/voice_consents',
  },
  getVoiceConsent: { ...look, ...ofConsent, at: 'GET /v1/audio/voice_consents/:consent_id' },
  updateVoiceConsent: { ...write, ...ofConsent, at: 'POST /v1/audio/voice_consents/:consent_id' },
  deleteVoiceConsent: {
    ...remove,
    ...ofConsent,
    at: 'DELETE /v1/audio/voice_consents/:consent_id',
  },
} as const satisfies Readonly<Record<string, ObjectOperation>>;
