/** Sound: OpenAI's speech and transcription requests in the words of vendors who have their own. */
export { deepgramTranscription } from './deepgram-listen.ts';
export { deepgramSpeech } from './deepgram-speak.ts';
export { elevenLabsSpeech } from './elevenlabs-speech.ts';
export { elevenLabsTranscription } from './elevenlabs-transcription.ts';
export { fileOf, inputOf, spokenFacts, voiceOf } from './request.ts';
export { encodeTranscript, type Transcript, type TranscriptWord } from './transcript.ts';
