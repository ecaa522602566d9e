import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endpoints, objectOperations, vendorCollections } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { namingMembers } from './sdk-types.ts';

/**
 * Every member by which a request of the vendors' own libraries names something that stays there, with the end of the place at
 * which a row looks for it, or why none does. A member that a newer library has is missed here until somebody has decided.
 */

const path = 'a name of the path';
const told = 'in replies alone, or in what is replayed of them: nothing is opened by it';

const ofOpenAI: Record<string, string> = {
  'Attachment.file_id': 'attachments.*.file_id',
  'BatchCreateParams.input_file_id': 'body.input_file_id',
  'BetaContainerAuto.file_ids': 'environment.file_ids.*',
  'BetaContainerReference.container_id': 'environment.container_id',
  'BetaFileSearchTool.vector_store_ids': 'tools.*.vector_store_ids.*',
  'BetaResponseCodeInterpreterToolCall.container_id': told,
  'BetaResponseComputerToolCallOutputScreenshot.file_id': 'input.*.output.file_id',
  'BetaResponseInputFile.file_id': 'input.*.content.*.file_id',
  'BetaResponseInputFileContent.file_id': 'input.*.output.*.file_id',
  'BetaResponseInputImage.file_id': 'input.*.content.*.file_id',
  'BetaResponseInputImageContent.file_id': 'input.*.output.*.file_id',
  'BetaSkillReference.skill_id': 'environment.skills.*.skill_id',
  'ChatCompletionAssistantMessageParam.audio':
    'what a model said an hour ago at most, under an id that only its caller was told',
  'ChatCompletionAudioParam.voice': 'a name that everybody knows',
  'ChatCompletionCreateParamsBase.audio': 'how it is to sound',
  'CodeInterpreter.container': 'tools.*.container',
  'CodeInterpreter.file_ids': 'tool_resources.code_interpreter.file_ids.*',
  'CodeInterpreterToolAuto.file_ids': 'tools.*.container.file_ids.*',
  'ComputerScreenshot.file_id': told,
  'ComputerScreenshotContent.file_id': 'content.*.file_id',
  'Consent.consent': 'body.consent',
  'ContainerAuto.file_ids': 'environment.file_ids.*',
  'ContainerCreateParams.file_ids': 'body.file_ids.*',
  'ContainerFileCitation.container_id': told,
  'ContainerFileCitation.file_id': told,
  'ContainerReference.container_id': 'environment.container_id',
  'ContentRetrieveParams.container_id': path,
  'File.file_id': 'file.file_id',
  'FileBatchCancelParams.vector_store_id': path,
  'FileBatchCreateParams.file_ids': 'body.file_ids.*',
  'FileBatchListFilesParams.vector_store_id': path,
  'FileBatchRetrieveParams.vector_store_id': path,
  'FileCitation.file_id': told,
  'FileContentParams.vector_store_id': path,
  'FileCreateParams.file_id': 'body.file_id',
  'FileDeleteParams.container_id': path,
  'FileDeleteParams.vector_store_id': path,
  'FilePath.file_id': told,
  'FileRetrieveParams.container_id': path,
  'FileRetrieveParams.vector_store_id': path,
  'FileSearch.vector_store_ids': 'tool_resources.file_search.vector_store_ids.*',
  'FileSearchTool.vector_store_ids': 'tools.*.vector_store_ids.*',
  'FileUpdateParams.vector_store_id': path,
  'Image.file_id': told,
  'ImageFile.file_id': 'content.*.image_file.file_id',
  'ImageInputReferenceParam.file_id': 'input_reference.file_id',
  'InputImageMask.file_id': 'input_image_mask.file_id',
  'InputTokenCountParams.conversation': 'body.conversation',
  'InputTokenCountParams.previous_response_id': 'body.previous_response_id',
  'JobCreateParams.training_file': 'body.training_file',
  'JobCreateParams.validation_file': 'body.validation_file',
  'Mcp.tunnel_id': 'nothing that a call makes',
  'Message.assistant_id': told,
  'Message.thread_id': told,
  'MessageDeleteParams.thread_id': path,
  'MessageRetrieveParams.thread_id': path,
  'MessageUpdateParams.thread_id': path,
  'PromptCacheOptions.comparison_response_id': 'body.prompt_cache_options.comparison_response_id',
  'ResponseCodeInterpreterToolCall.container_id': told,
  'ResponseCompactParams.previous_response_id': 'body.previous_response_id',
  'ResponseComputerToolCallOutputScreenshot.file_id': 'input.*.output.file_id',
  'ResponseCreate.conversation': 'body.conversation',
  'ResponseCreate.previous_response_id': 'body.previous_response_id',
  'ResponseCreateParamsBase.conversation': 'body.conversation',
  'ResponseCreateParamsBase.previous_response_id': 'body.previous_response_id',
  'ResponseInputFile.file_id': 'input.*.content.*.file_id',
  'ResponseInputFileContent.file_id': 'input.*.output.*.file_id',
  'ResponseInputImage.file_id': 'input.*.content.*.file_id',
  'ResponseInputImageContent.file_id': 'input.*.output.*.file_id',
  'Result.file_id': told,
  'RunCancelParams.thread_id': path,
  'RunCreateParamsBase.assistant_id': 'body.assistant_id',
  'RunRetrieveParams.thread_id': path,
  'RunSubmitToolOutputsParamsBase.thread_id': path,
  'RunUpdateParams.thread_id': path,
  'SkillReference.skill_id': 'environment.skills.*.skill_id',
  'SpeechCreateParams.voice': 'body.voice.id',
  'Steer.previous_response_id': 'body.previous_response_id',
  'StepListParams.thread_id': path,
  'StepRetrieveParams.thread_id': path,
  'ThreadCreateAndRunParamsBase.assistant_id': 'body.assistant_id',
  'ThreadCreateAndRunPollParams.assistant_id': 'body.assistant_id',
  'VectorStore.file_ids': 'vector_stores.*.file_ids.*',
  'VectorStoreCreateParams.file_ids': 'body.file_ids.*',
  'VideoCreateCharacterParams.video': 'a file that is sent along',
  'VideoEditParams.video': 'body.video.id',
  'VideoExtendParams.video': 'body.video.id',
};

const ofAnthropic: Record<string, string> = {
  'BashCodeExecutionOutputBlockParam.file_id': told,
  'BatchCreateParams.user_profile_id': 'requests.*.params.user_profile_id',
  'BetaBashCodeExecutionOutputBlockParam.file_id': told,
  'BetaCodeExecutionOutputBlockParam.file_id': told,
  'BetaContainerUploadBlockParam.file_id': 'messages.*.content.*.file_id',
  'BetaDiagnosticsParam.previous_message_id': 'body.diagnostics.previous_message_id',
  'BetaFileDocumentSource.file_id': 'content.*.source.file_id',
  'BetaFileImageSource.file_id': 'content.*.source.content.*.source.file_id',
  'BetaSkillParams.skill_id': 'container.skills.*.skill_id',
  'BetaThreadContinueParams.previous_message_id': 'body.thread.previous_message_id',
  'CodeExecutionOutputBlockParam.file_id': told,
  'ContainerUploadBlockParam.file_id': 'messages.*.content.*.file_id',
  'DiagnosticsParam.previous_message_id': 'body.diagnostics.previous_message_id',
  'FileDocumentSource.file_id': 'content.*.source.file_id',
  'FileImageSource.file_id': 'content.*.source.content.*.source.file_id',
  'MessageCountTokensParams.user_profile_id': 'a header',
  'MessageCreateParamsBase.container': 'body.container',
  'MessageCreateParamsBase.user_profile_id': 'a header',
  'SkillParams.skill_id': 'container.skills.*.skill_id',
};

/** Of agents that OpenAI runs. */
const ofOpenAiAgents: Record<string, string> = {
  'AgentToolConfigParamMcp.credential_id': 'tools.*.credential_id',
  'AgentToolResourceMcp.credential_id': told,
  'ArtifactContentParams.session_id': path,
  'ArtifactDeleteParams.session_id': path,
  'ArtifactListParams.environment_id': 'query.environment_id',
  'ArtifactRetrieveParams.session_id': path,
  'AutomationListParams.session_id': 'query.session_id',
  'AutomationTargetParamExistingSession.session_id': 'target.session_id',
  'AutomationTargetParamNewSession.agent_id': 'target.agent_id',
  'AutomationTargetParamNewSession.vault_ids': 'target.vault_ids.*',
  'CredentialDeleteParams.vault_id': path,
  'CredentialRetrieveParams.vault_id': path,
  'CredentialUpdateParams.vault_id': path,
  'Environment.environment_template_id': told,
  'EnvironmentCreateParams.vault_ids': 'body.vault_ids.*',
  'EnvironmentParamOpenAIHosted.environment_id': 'body.environment.environment_id',
  'EnvironmentParamOpenAIHosted.environment_template_id':
    'body.environment.environment_template_id',
  'HostedEnvironmentFileID.file_id': told,
  'HostedEnvironmentFileParamFileID.file_id': 'environment.files.*.file_id',
  'HostedSkillParamSkillReference.skill_id': 'environment.skills.*.skill_id',
  'HostedSkillReference.skill_id': told,
  'ItemListParams.session_id': path,
  'PersistedAgentToolConfigParamMcp.credential_id': 'tools.*.credential_id',
  'PersistedAgentToolResourceMcp.credential_id': told,
  'SessionCreateParamsBase.agent_id': 'body.agent_id',
  'SessionCreateParamsBase.vault_ids': 'body.vault_ids.*',
  'SessionListParams.agent_id': 'query.agent_id',
  'SubagentRetrieveParams.session_id': path,
  'TurnListParams.session_id': path,
  'TurnRetrieveParams.session_id': path,
};

/** Of agents that Anthropic runs. */
const ofManagedAgents: Record<string, string> = {
  'BetaDreamMemoryStoreInput.memory_store_id': 'inputs.*.memory_store_id',
  'BetaDreamSessionsInput.session_ids': 'inputs.*.session_ids.*',
  'BetaManagedAgentsAnthropicSkillParams.skill_id': 'skills.*.skill_id',
  'BetaManagedAgentsCustomSkillParams.skill_id': 'skills.*.skill_id',
  'BetaManagedAgentsFileDocumentSource.file_id': 'events.*.content.*.source.file_id',
  'BetaManagedAgentsFileImageSource.file_id': 'events.*.content.*.source.file_id',
  'BetaManagedAgentsFileResourceParams.file_id': 'resources.*.file_id',
  'BetaManagedAgentsFileRubricParams.file_id': 'events.*.rubric.file_id',
  'BetaManagedAgentsMemoryStoreResourceParam.memory_store_id': 'resources.*.memory_store_id',
  'BetaManagedAgentsUserInterruptEventParams.session_thread_id':
    'a thread of the session that the path names',
  'BetaOutputBehaviorUpdateExisting.memory_store_id': 'body.output_behavior.memory_store_id',
  'CertificateArchiveParams.tunnel_id': path,
  'CertificateRetrieveParams.tunnel_id': path,
  'CredentialArchiveParams.vault_id': path,
  'CredentialDeleteParams.vault_id': path,
  'CredentialMCPOAuthValidateParams.vault_id': path,
  'CredentialRetrieveParams.vault_id': path,
  'CredentialUpdateParams.vault_id': path,
  'EventListParams.session_id': path,
  'EventStreamParams.session_id': path,
  'MemoryDeleteParams.memory_store_id': path,
  'MemoryRetrieveParams.memory_store_id': path,
  'MemoryUpdateParams.memory_store_id': path,
  'MemoryVersionListParams.session_id': 'query.session_id',
  'MemoryVersionRedactParams.memory_store_id': path,
  'MemoryVersionRetrieveParams.memory_store_id': path,
  'ResourceAddParams.file_id': 'body.file_id',
  'ResourceDeleteParams.session_id': path,
  'ResourceRetrieveParams.session_id': path,
  'ResourceUpdateParams.session_id': path,
  'SessionCreateParams.environment_id': 'body.environment_id',
  'SessionCreateParams.vault_ids': 'body.vault_ids.*',
  'SessionListParams.agent_id': 'query.agent_id',
  'SessionListParams.memory_store_id': 'query.memory_store_id',
  'SessionUpdateParams.vault_ids': 'body.vault_ids.*',
  'ThreadArchiveParams.session_id': path,
  'ThreadRetrieveParams.session_id': path,
  'WorkAckParams.environment_id': path,
  'WorkHeartbeatParams.environment_id': path,
  'WorkRetrieveParams.environment_id': path,
  'WorkStopParams.environment_id': path,
  'WorkUpdateParams.environment_id': path,
};

/** What the rows are about. */
const ofRows =
  /^(?:chat\/completions|responses|conversations|images|videos|vector-stores|containers|batches|fine-tuning\/jobs|files|uploads|audio|beta\/(?:threads|assistants|responses))/;

describe.each([
  ['openai', ofOpenAI, ofRows],
  ['@anthropic-ai/sdk', ofAnthropic, /^(?:beta\/)?messages/],
  ['openai', ofOpenAiAgents, /^beta\/agents/],
  [
    '@anthropic-ai/sdk',
    ofManagedAgents,
    /^beta\/(?:agents|sessions|environments|vaults|memory-stores|dreams|tunnels|user-profiles)/,
  ],
] as const)('what requests of %s name', (library, places, files) => {
  const folder = `${dirname(fileURLToPath(import.meta.resolve(library)))}/resources`;

  it('is all of it known', () => {
    const found = namingMembers(folder, (file) => files.test(file));
    expect(found).toEqual(Object.keys(places));
  });

  it('is looked for where a row says so', () => {
    const looked = [...objectOperations, ...endpoints, ...vendorCollections].flatMap(
      ({ objects }) => objects?.names?.map(({ at }) => at) ?? [],
    );
    for (const [member, place] of Object.entries(places))
      if (!place.includes(' '))
        expect(
          looked.some((at) => at.endsWith(place)),
          `${member}: ${place}`,
        ).toBe(true);
  });
});
