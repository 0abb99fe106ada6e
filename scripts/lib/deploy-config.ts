import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** Made by npm run deploy from wrangler.toml and the ids of an account's resources; not tracked. */
export const DEPLOY_CONFIG = 'wrangler.deploy.toml'

export type Ids = { database: string; kv: string; emailFrom: string }

/** A value of wrangler.toml, by its name; the first one of that name. */
export function tracked(name: string): string {
  const found = new RegExp(`^${name} = "([^"]*)"$`, 'm').exec(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8'))
  if (!found?.[1]) throw new Error(`wrangler.toml has no ${name}`)
  return found[1]
}

/** Writes wrangler.toml with the account's own ids in the place of its zeros. It has to lie beside it: paths are relative. */
export function writeDeployConfig({ database, kv, emailFrom }: Ids): void {
  let text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  text = replaceOnce(text, /^database_id = "[^"]*"$/m, `database_id = ${JSON.stringify(database)}`)
  text = replaceOnce(text, /^id = "0{32}"$/m, `id = ${JSON.stringify(kv)}`)
  text = replaceOnce(text, /^EMAIL_FROM = "[^"]*"$/m, `EMAIL_FROM = ${JSON.stringify(emailFrom)}`)
  writeFileSync(join(ROOT, DEPLOY_CONFIG), `# Made by npm run deploy from wrangler.toml. Change that one.\n${text}`)
}

function replaceOnce(text: string, pattern: RegExp, value: string): string {
  const count = text.match(new RegExp(pattern.source, 'gm'))?.length ?? 0
  if (count !== 1) throw new Error(`wrangler.toml has ${count} lines like ${pattern.source}, not one`)
  return text.replace(pattern, () => value)
}
