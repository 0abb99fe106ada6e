import { describe, expect, it } from 'vitest'
import { app } from '../src/app'
import { routeTable } from '../src/http/openapi'
import { nameOf } from './routes/of-app'
import { fileOf, ROOMS, SOURCES, type Source, TEST_LINES } from './sources'

/** What belongs to no room: declarations of globals, and the journal of migrations, whose newest name the code must know. */
const OUTSIDE = /^(globals\.d\.ts$|drizzle\/meta\/)/
const floorOf = (path: string) => ROOMS.indexOf(path.split('/')[0]?.replace(/\.ts$/, '') ?? '')

/** Routes that describe the service itself: no credential, no operation of the API. */
const DESCRIPTIONS = ['GET /openapi.json', 'GET /openapi-3.0.json', 'GET /catalog.schema.json', 'GET /']
/** Takes an API key, and hands it to the calls of the API that its tools make: their policies decide. */
const AGENTS = 'POST /mcp'

/** Expects that no file breaks a rule, which returns what is wrong in one. */
function expectOf(files: Source[], rule: (file: Source) => string[]) {
  expect(files.length).toBeGreaterThan(0)
  expect(files.flatMap((file) => rule(file).map((wrong) => `${file.path}: ${wrong}`))).toEqual([])
}
const expectOfAll = (rule: (file: Source) => string[]) => expectOf(SOURCES, rule)
const expectOfOthers = (known: RegExp, rule: (file: Source) => string[]) =>
  expectOf(
    SOURCES.filter(({ path }) => !known.test(path)),
    rule,
  )
const found = (pattern: RegExp) => (file: Source) => file.code.match(pattern) ?? []
const importing = (pattern: RegExp) => (file: Source) =>
  file.imports.map(({ target }) => target).filter((target) => pattern.test(target))

describe('imports', () => {
  it('point one way, types too: to rooms on a lower floor', () => {
    expectOfAll(({ path, imports }) => {
      if (OUTSIDE.test(path)) return []
      if (floorOf(path) < 0) return ['is in no room']
      const ours = imports.filter(({ ours, target }) => ours && !OUTSIDE.test(target.replace('../', '')))
      return ours.map(({ target }) => target).filter((target) => floorOf(target) > floorOf(path))
    })
  })

  it('go in no circle, even where they name types alone', () => {
    const next = new Map(
      SOURCES.map(({ path, imports }) => [path, imports.flatMap(({ target }) => fileOf(target)?.path ?? [])]),
    )
    const reached = (from: string) => {
      const seen = new Set<string>()
      const visit = (path: string) => {
        for (const below of next.get(path) ?? []) if (seen.size < seen.add(below).size) visit(below)
      }
      visit(from)
      return seen
    }
    expect([...next.keys()].filter((path) => reached(path).has(path))).toEqual([])
  })

  it("name another folder's store or rules, never its routes", () => {
    expectOfOthers(/^(app|console\/routes)\.ts$/, importing(/(^|[/-])routes$/))
  })

  it('of lib/ stay in lib/', () => {
    expectOf(
      SOURCES.filter(({ path }) => path.startsWith('lib/')),
      importing(/^(?!lib\/)/),
    )
  })

  it("name no API of Node's but its zlib, in one place", () =>
    expectOfOthers(/^inbox\/packing\.ts$/, importing(/^node:/)))

  it('take zod as a namespace: `{ z }` keeps the whole library in the bundle', () => {
    expectOfAll(found(/import \{[^}]*\bz\b[^}]*\} from 'zod'/g))
  })

  it("take Hono's ordinary router", () => expectOfAll(importing(/^hono\/(tiny|quick)/)))
})

describe('bindings', () => {
  it('are named in env.ts and the entry point alone', () => {
    expectOfOthers(/^(env|index)\.ts$/, found(/\benv\.(DB|KV|EVENTS|EMAIL|LIMIT_\w+)/g))
  })

  it('are wrapped for D1 in db/: nothing else prepares or sends a statement', () => {
    expectOfOthers(/^(db\/|env\.ts$)/, found(/\.d1\b|\.prepare\(|\.(binding|DB)\.batch\(|\bdrizzle\(/g))
  })
})

describe('statements', () => {
  it('are written apart from what speaks HTTP: a file imports Drizzle or Hono, not both', () => {
    expectOfOthers(/^http\//, ({ imports, code }) => {
      const from = (pattern: RegExp) => imports.some(({ target }) => pattern.test(target))
      if (!from(/^hono(\/|$)/)) return []
      if (from(/^drizzle-orm/)) return ['imports both']
      return code.match(/\b(?:db|directory)\s*\.(?:select|insert|update|delete)\(/g) ?? []
    })
  })

  it('are sent by run(), batch() and read(), which know what went wrong', () => {
    // A builder that is awaited, or returned by an async function, sends itself.
    const builder = String.raw`[\w.()']*\b[dD]b\s*\.(?:select|selectDistinct|insert|update|delete|with|run|all|get|values|batch)\(`
    const awaited = new RegExp(String.raw`\bawait\s+${builder}|\basync [^\n]*=>\s*${builder}`, 'g')
    const returned = new RegExp(String.raw`^ +return\s+${builder}`, 'gm')
    expectOfOthers(/^db\//, (file) => [
      ...found(awaited)(file),
      ...(file.code.match(/^(export )?async function .*?^\}/gms) ?? []).flatMap((body) => body.match(returned) ?? []),
    ])
  })

  it("reach into Drizzle's undocumented parts in one file", () => {
    expectOfOthers(/^db\/drizzle-internals\.ts$/, found(/\._prepare\(|\.mapResult\(|\.decoder\b/g))
  })

  it('name tables and their columns by the schema, so that a rename breaks the compiler', () => {
    const schemas = SOURCES.filter(({ path }) => path.endsWith('schema.ts'))
    const tables = schemas.flatMap(({ code }) => [...code.matchAll(/sqliteTable\(\s*'(\w+)'/g)].map(([, name]) => name))
    expect(tables.length).toBeGreaterThan(10)
    const spelled = new RegExp(String.raw`\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:${tables.join('|')})\b`, 'g')
    expectOfOthers(/schema\.ts$/, found(spelled))
  })

  it('replace no row: REPLACE deletes it first, with what it does not name', () => {
    expectOfAll(found(/\b(INSERT OR REPLACE|REPLACE INTO)\b/gi))
  })

  it('pass none by the transitional door', () => {
    expectOfAll(found(/\bold\(|\baudit\(/g))
    expect(fileOf('db/old')).toBeUndefined()
  })

  it('update events where the lifecycle moves them, where effects are erased, and after a restore', () => {
    const updating = SOURCES.filter(({ code }) => /\bupdate\(\s*events\b|UPDATE \$\{events\}/.test(code))
    expect(updating.map(({ path }) => path)).toEqual([
      'inbox/erase.ts',
      'inbox/pack-bodies.ts', // where its payload is, and nothing of its state
      'inbox/process/claim.ts',
      'inbox/process/finish.ts',
      'inbox/process/hand-back.ts',
      'inbox/process/release.ts',
      'inbox/process/sweep.ts',
      'inbox/reopen.ts',
      'inbox/replay/replays.ts',
      'inbox/thin/again.ts',
      'inbox/thin/resume.ts',
    ])
  })
})

describe('knowledge', () => {
  it("of vendors' fields is in vendors/ alone", () => {
    const fields =
      /stripe-signature|paddle-signature|whsec_|previous_attributes|subscription_details|current_billing_period/gi
    // One is also the form of our own secrets.
    expectOfOthers(/^(vendors\/|endpoints\/sign\.ts$)/, found(fields))
  })

  it('of who may call is with every route', () => {
    const routes = routeTable(app)
    expect(routes.length).toBeGreaterThan(50)
    const silent = routes.filter(({ meta }) => meta.operation?.policy === undefined && meta.page === undefined)
    expect(silent.map(nameOf).sort()).toEqual([...DESCRIPTIONS, AGENTS].sort())
  })

  it('of what a route answers is in its operation: answer() takes nothing else', () => {
    expectOf(
      SOURCES.filter(({ imports }) => imports.some(({ target }) => target === 'http/route')),
      found(/\bc\.json\(|\bc\.body\(null/g),
    )
  })

  it('of what is shown of a row is in a schema: each present() states the type of its own', () => {
    expectOfAll(found(/function present\w*(?:<[^>]*>)?\((?:[^()]|\([^()]*\))*\) \{/g))
  })
})

it('only the core of outside fetches, and the look-up at DNS resolvers, fetch anything', () => {
  // The console's examples of code are texts.
  const may = /^(lib\/bounded-fetch|domains\/resolve|console\/pages\/(api-keys|entitlements)\/examples)\.ts$/
  expectOfOthers(may, found(/(?<![\w.])fetch\([^)]*/g))
})

describe('files', () => {
  it('are there to look at', () => expect(SOURCES.length).toBeGreaterThan(100))

  it('are short: none over 300 lines, half of them at most 90', () => {
    expectOfAll(({ lines }) => (lines > 300 ? [`${lines} lines`] : []))
    const lengths = SOURCES.map(({ lines }) => lines).sort((a, b) => a - b)
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(90)
  })

  it('of tests have at most 400 lines', () => {
    expect(TEST_LINES.length).toBeGreaterThan(50)
    expect(TEST_LINES.filter(([, lines]) => lines > 400)).toEqual([])
  })
})
