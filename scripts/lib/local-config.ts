import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { LOCAL_DIR, ROOT } from './paths.ts'

/**
 * wrangler's arguments for a server with every rate limit set to one number; no arguments to keep the limits.
 *
 * @throws if the number is not a whole number of at least 1
 */
export function localConfig(rateLimit: string | undefined): string[] {
  if (rateLimit === undefined || rateLimit === '') return []
  if (!/^[1-9]\d{0,8}$/.test(rateLimit)) throw new Error(`LOCAL_RATE_LIMIT must be a whole number, not ${rateLimit}`)
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
    .replaceAll(/limit = \d+, period = 60/g, `limit = ${rateLimit}, period = 60`)
    // The file is written to another folder, so its paths become absolute.
    .replaceAll(/^(main|migrations_dir|directory) = "(.+)"$/gm, (_, name: string, path: string) => {
      return `${name} = ${JSON.stringify(join(ROOT, path))}`
    })
    // wrangler appends these to the folder of the file even if they are absolute.
    .replace(
      'watch_dir = ["src", "drizzle"]',
      `watch_dir = ${JSON.stringify(['src', 'drizzle'].map((name) => relative(LOCAL_DIR, join(ROOT, name))))}`,
    )
    .replace('[build]\n', `[build]\ncwd = ${JSON.stringify(ROOT)}\n`)
  const path = join(LOCAL_DIR, 'wrangler.toml')
  mkdirSync(LOCAL_DIR, { recursive: true })
  writeFileSync(path, text)
  return ['--config', path, '--env-file', join(ROOT, '.dev.vars')]
}
