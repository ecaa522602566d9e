/** What images are made for, in the words of the three who name them. */
export const platforms = {
  amd64: { debian: 'amd64', npm: 'x64', oci: { architecture: 'amd64', os: 'linux' } },
  arm64: {
    debian: 'arm64',
    npm: 'arm64',
    oci: { architecture: 'arm64', os: 'linux', variant: 'v8' },
  },
} as const;

export type Architecture = keyof typeof platforms;
export const architectures = Object.keys(platforms) as Architecture[];

/** Of this machine; undefined when there are no images for it. */
export function ownArchitecture(): Architecture | undefined {
  return architectures.find((each) => platforms[each].npm === process.arch);
}
