import { describe, expect, it } from 'vitest'

/** Every source file by its path below src/. */
const sources = Object.fromEntries(
  Object.entries(import.meta.glob('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })).map(
    ([path, text]) => [path.replace('../src/', ''), text as string],
  ),
)
const files = Object.keys(sources).sort()

/** Imports of a file, as paths below src/ without extension; packages as they are named. */
function importsOf(file: string): string[] {
  const text = sources[file] as string
  return [...text.matchAll(/(?:from|import) '([^']+)'/g)].map(([, spec]) => {
    if (!spec?.startsWith('.')) return spec as string
    const parts = file.split('/').slice(0, -1)
    for (const step of spec.split('/')) {
      if (step === '..') parts.pop()
      else if (step !== '.') parts.push(step)
    }
    return parts.join('/')
  })
}

/** From the top down. A file imports from its own layer and from those below it. */
const LAYERS = [
  /^index/,
  /^app/,
  /^console\//,
  /^(inbox|api-keys|projects|members|sessions|audit)\//,
  /^billing\//,
  /^vendors(\/|$)/,
  /^http\//,
  /^(env|globals|db\/)/,
  /^lib\//,
]
const layer = (path: string) => LAYERS.length - LAYERS.findIndex((pattern) => pattern.test(path))

const check = (rule: (file: string, text: string) => string[]) =>
  expect(files.flatMap((file) => rule(file, sources[file] as string).map((what) => `${file}: ${what}`))).toEqual([])

describe('the layout', () => {
  it('has files to look at', () => expect(files.length).toBeGreaterThan(30))

  it('imports one way: index → app → console → inbox, resources → billing → vendors → http → db → lib', () =>
    check((file) => {
      const local = importsOf(file).filter((path) => files.some((known) => known.startsWith(path)))
      return local.filter((path) => layer(path) > layer(file))
    }))

  it('has no import cycles', () => {
    const resolve = (path: string) =>
      files.find((file) => file === `${path}.ts` || file === `${path}.tsx` || file === `${path}/index.ts`)
    // Type-only imports vanish at run time and may point anywhere a type is named.
    const graph = new Map(
      files.map((file) => {
        const text = sources[file] as string
        const typeOnly = new Set([...text.matchAll(/import type [^;']*'([^']+)'/g)].map(([, spec]) => spec))
        const specs = [...text.matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, spec]) => spec as string)
        const kept = new Set(specs.filter((spec) => !typeOnly.has(spec)))
        const targets = importsOf(file).filter((_, index) => {
          const all = [...text.matchAll(/(?:from|import) '([^']+)'/g)].map(([, spec]) => spec as string)
          return kept.has(all[index] as string)
        })
        return [file, targets.map(resolve).filter((target) => target !== undefined)] as const
      }),
    )
    const cycles: string[] = []
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      else for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })

  it("calls another folder's store or rules, never its routes", () =>
    check((file) =>
      ['app.ts', 'console/routes.ts'].includes(file)
        ? []
        : importsOf(file).filter((path) => /(^|[/-])routes$/.test(path)),
    ))

  it('names raw bindings in env.ts and the entry point alone', () =>
    check((file, text) =>
      file === 'env.ts' || file === 'index.ts'
        ? []
        : [...text.matchAll(/\benv\.(DB|KV|EVENTS|EMAIL|LIMIT_\w+)/g)].map(([what]) => what),
    ))

  it('keeps Drizzle and SQL in schema.ts, store.ts and the store files of the inbox', () =>
    check((file) =>
      /(^|\/)(schema\.ts$|([a-z]+-)?store\.ts$|claim\.ts$|finish\.ts$|retention\.ts$|compact\.ts$|search\/(indexes|conditions)\.ts$)|^db\//.test(
        file,
      )
        ? []
        : importsOf(file).filter((path) => path.startsWith('drizzle-orm')),
    ))

  it('lib/ imports nothing of ours', () =>
    check((file) => (file.startsWith('lib/') ? importsOf(file).filter((path) => !path.startsWith('lib/')) : [])))

  it("knows vendors' fields in vendors/ alone", () =>
    check((file, text) =>
      file.startsWith('vendors/')
        ? []
        : [
            ...text.matchAll(
              /stripe-signature|paddle-signature|whsec_|previous_attributes|subscription_details|current_billing_period/gi,
            ),
          ].map(([what]) => what),
    ))

  it('imports zod as a namespace: `{ z }` keeps the whole library in the bundle', () =>
    check((_, text) => [...text.matchAll(/import \{[^}]*\bz\b[^}]*\} from 'zod'/g)].map(([what]) => what)))

  it("uses no API of Node's", () => check((file) => importsOf(file).filter((path) => path.startsWith('node:'))))

  it('updates events where the lifecycle moves them, and nowhere else', () => {
    const updating = files.filter((file) => /update\(events\)|UPDATE \$\{events\}/.test(sources[file] as string))
    expect(updating).toEqual([
      'inbox/process/claim.ts',
      'inbox/process/finish.ts',
      'inbox/replay/store.ts',
      'inbox/upkeep/store.ts',
    ])
  })

  it('keeps files short enough to be one thing', () =>
    check((_, text) => (text.split('\n').length > 300 ? [`${text.split('\n').length} lines`] : [])))
})
