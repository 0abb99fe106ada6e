import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { LOCAL_DIR, ROOT } from './paths.ts'
import { boundStores, withStores } from './stores-config.ts'

/**
 * What is particular to a local server: a number for every rate limit, how many stores, the address of the local identity provider, and,
 * in tests, the address of a server that stands for all hosts outside.
 */
export type Local = Partial<Record<'rateLimit' | 'stores' | 'idp' | 'outside', string | undefined>>

/** What the environment asks for. */
export const asked: Local = {
  rateLimit: process.env.LOCAL_RATE_LIMIT,
  stores: process.env.STORES,
  outside: process.env.LOCAL_OUTSIDE,
}

/** The configuration of this checkout for a local server. @throws if a number is not a whole number */
export function localText({ rateLimit, stores, idp, outside }: Local): string {
  const tracked = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  const limit = numberIn('LOCAL_RATE_LIMIT', rateLimit)
  const count = numberIn('STORES', stores) ?? 1
  const bound = boundStores(tracked)
  const further = Array.from({ length: count }, (_, number) => number).filter((number) => !bound.includes(number))
  const text = behind(withStores(tracked, further), { idp, outside })
  return limit === null ? text : text.replaceAll(/limit = \d+, period = 60/g, `limit = ${limit}, period = 60`)
}

/**
 * wrangler's arguments for a local server with its own settings; no arguments if it has none.
 *
 * @param folder the file is written to
 */
export function localConfig(local: Local, folder = LOCAL_DIR): string[] {
  const text = localText(local)
  if (text === localText({})) return []
  // The file is in another folder than wrangler.toml, so its paths become absolute.
  const absolute = text
    .replaceAll(/^(main|migrations_dir|directory|"[^"]+") = "(.+)"$/gm, (_, name: string, path: string) => {
      return `${name} = ${JSON.stringify(join(ROOT, path))}`
    })
    // wrangler appends these to the folder of the file even if they are absolute.
    .replace(
      'watch_dir = ["src", "drizzle"]',
      `watch_dir = ${JSON.stringify(['src', 'drizzle'].map((name) => relative(folder, join(ROOT, name))))}`,
    )
    .replace('[build]\n', `[build]\ncwd = ${JSON.stringify(ROOT)}\n`)
  const path = join(folder, 'wrangler.toml')
  mkdirSync(folder, { recursive: true })
  // A server that runs with this file restarts when the file is written.
  if (!existsSync(path) || readFileSync(path, 'utf8') !== absolute) writeFileSync(path, absolute)
  return ['--config', path, '--env-file', join(ROOT, '.dev.vars')]
}

/** The Worker behind a module that leads its fetches elsewhere. */
function behind(text: string, { idp, outside }: Local): string {
  const lead = (entry: string, name: string, address: string) =>
    text
      .replace('main = "src/index.ts"', `main = ${JSON.stringify(entry)}`)
      .replace('[vars]\n', `[vars]\n${name} = ${JSON.stringify(address)}\n`)
  if (outside) return lead('test/outside/entry.ts', 'OUTSIDE', outside)
  return idp ? lead('scripts/idp/entry.ts', 'LOCAL_IDP', idp) : text
}

function numberIn(name: string, text: string | undefined): number | null {
  if (text === undefined || text === '') return null
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${name} must be a whole number, not ${text}`)
  return Number(text)
}
