/** A source file, as the tests of the architecture read it. */
export type Source = {
  /** Its path below src/. */
  path: string
  /** As it is compiled: without comments. */
  code: string
  lines: number
  imports: Import[]
}
type Import = {
  /** A path below src/, without extension, for what is ours; else the package as it is named. */
  target: string
  ours: boolean
  /** Whether it vanishes when it is compiled. */
  typeOnly: boolean
}

const texts = import.meta.glob<string>('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })

/** The rooms of src/, from the ground up. A file imports from its own room and from those before it. */
export const ROOMS =
  'lib db settings env idempotency http vendors followers changes billing audit mail stores accounts tenancy notices identities domains consumers inbox token-keys catalog api-keys entitlements watch devices sessions passkeys members sso projects feed endpoints health audit-log search exposures backup upkeep console mcp app index'.split(
    ' ',
  )

/** Every TypeScript file below src/. */
export const SOURCES: Source[] = Object.entries(texts)
  .map(([path, text]) => {
    const below = path.replace('../src/', '')
    const code = withoutComments(text)
    return { path: below, code, lines: linesOf(text), imports: importsOf(below, code) }
  })
  .sort((a, b) => (a.path < b.path ? -1 : 1))

/** Lines of every TypeScript file below test/, by its path there. */
export const TEST_LINES: [path: string, lines: number][] = Object.entries(
  import.meta.glob<string>('./**/*.ts', { query: '?raw', import: 'default', eager: true }),
).map(([path, text]) => [path.replace('./', ''), linesOf(text)])

/** The file that an import names. */
export function fileOf(target: string): Source | undefined {
  return SOURCES.find(({ path }) => [`${target}.ts`, `${target}.tsx`, `${target}/index.ts`].includes(path))
}

function linesOf(text: string): number {
  return text.trimEnd().split('\n').length
}

/** `//` begins a comment only behind white space: in a text it is part of an address. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(^|\s)\/\/.*/g, '$1')
}

function importsOf(path: string, code: string): Import[] {
  const statements = code.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm)
  const calls = code.matchAll(/\bimport\(\s*(type\s)?'([^']+)'/g)
  return [...statements, ...calls].map(([, type, name = '']) => ({
    target: name.startsWith('.') ? resolve(path, name).replace(/\.tsx?$/, '') : name,
    ours: name.startsWith('.'),
    typeOnly: type !== undefined,
  }))
}

function resolve(from: string, name: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const step of name.split('/')) {
    if (step === '..') parts.pop()
    else if (step !== '.') parts.push(step)
  }
  return parts.join('/')
}
