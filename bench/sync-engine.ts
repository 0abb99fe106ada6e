import { fork } from 'node:child_process'
import { join } from 'node:path'
import { openPostgres } from './postgres.ts'

export type SyncEngine = { url: string; close: () => Promise<void> }

/** Supabase's stripe-sync-engine over a PostgreSQL of its own. @returns null where the machine has no PostgreSQL */
export async function openSyncEngine(secret: string): Promise<SyncEngine | null> {
  const postgres = await openPostgres()
  if (!postgres) return null
  const child = fork(join(import.meta.dirname, 'peers/sync-engine.ts'), {
    env: { ...process.env, DATABASE_URL: postgres.url, SECRET: secret },
    silent: true,
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const close = async () => {
    child.kill()
    await postgres.close()
  }
  const port = await new Promise<unknown>((resolve) => {
    child.once('message', resolve)
    child.once('exit', () => resolve(null))
  })
  if (typeof port === 'number') return { url: `http://127.0.0.1:${port}`, close }
  await close()
  throw new Error(`stripe-sync-engine did not start:\n${said}`)
}
