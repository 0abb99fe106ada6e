import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEPLOY_CONFIG } from '../deploy-config.ts'
import { SECRETS } from '../dev-vars.ts'
import { fail } from '../terminal.ts'
import type { Commands } from './commands.ts'

/**
 * Uploads the Worker with the secrets that it lacks. They go with the first upload (--secrets-file), because `wrangler
 * secret put` would create an empty Worker if there is none yet. An upload keeps the secrets that the Worker already has.
 */
export async function uploadWorker(commands: Commands): Promise<void> {
  const secrets = await missingSecrets(commands)
  const names = Object.keys(secrets)
  const command = ['deploy', '--config', DEPLOY_CONFIG]
  if (names.length === 0) {
    await commands.change(command)
    return
  }
  commands.told(
    `generate ${names.join(' and ')} if the Worker has none (the only copy; set them in the environment to keep your own)`,
  )
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  try {
    const file = join(folder, 'secrets.json')
    if (!commands.dry) writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
    await commands.change([...command, '--secrets-file', file])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The secrets that the Worker lacks. A value comes from the environment, or is generated here and stored nowhere else.
 * An existing secret is never overwritten: what the database has encrypted with a key is lost without that key.
 */
async function missingSecrets(commands: Commands): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await commands.look(['secret', 'list', '--config', DEPLOY_CONFIG])
  if (commands.dry) return Object.fromEntries(SECRETS.map(({ name }) => [name, '']))
  if (code !== 0 && !/not found/i.test(stderr + stdout))
    fail(`Could not list the secrets of the Worker:\n${stderr || stdout}`)
  const present = code === 0 ? (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name) : []
  const missing = SECRETS.filter(({ is }) => !present.some((name) => is.test(name)))
  return Object.fromEntries(
    missing.flatMap(({ name, is, make }) => {
      const given = Object.entries(process.env).flatMap(([known, value]) =>
        is.test(known) && value ? [[known, value]] : [],
      )
      return given.length > 0 ? given : [[name, make()]]
    }),
  )
}
