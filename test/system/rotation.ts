/*
 * npm run rotation: a key is rotated with first_use while 50 clients in 4 processes use it, on a real server. Each client learns a
 * new secret at another time, and no request may be refused. At the end, the old secrets are dead.
 */
import { fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { temporaryState } from './temporary-state.ts'

const CLIENTS = [13, 13, 12, 12] as const
/** Requests of each client between two rotations, and the number of rotations. */
const REQUESTS = 50
const ROTATIONS = 3
/** A client learns a new secret within so many of its requests. */
const LEARNED_WITHIN = 40
const LIMITS = { LOCAL_RATE_LIMIT: '100000000' }

type Order = { url: string; project: string; secret: string; clients: number }
type Report = Record<string, number>
type Minted = { key: { id: string; pending: unknown; previous: unknown }; secret: string }

/** A process with several clients. Each order names the secret that they learn in the course of it. */
function serveClients(): void {
  const known = new Map<number, string>()
  process.on('message', async ({ url, project, secret, clients }: Order) => {
    const report: Report = {}
    const client = async (n: number) => {
      const learns = Math.floor(Math.random() * LEARNED_WITHIN)
      for (let i = 0; i < REQUESTS; i++) {
        if (i === learns || !known.has(n)) known.set(n, secret)
        const headers = { Authorization: `Bearer ${known.get(n)}`, 'X-Project-Id': project }
        const response = await fetch(`${url}/platform/v1/${i % 2 ? 'api-keys/self' : 'projects'}`, { headers })
        const says = response.ok ? '200' : `${response.status} ${((await response.json()) as { code: string }).code}`
        if (response.ok) await response.arrayBuffer()
        report[says] = (report[says] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: clients }, (_, n) => client(n)))
    process.send?.(report)
  })
}

async function main(): Promise<number> {
  const { remove } = temporaryState('rotation', tmpdir())
  const { freePort, killServer, startServer } = await import('./server.ts')
  const { must, ask } = await import('../../scripts/lib/api.ts')
  const { signIn } = await import('../../scripts/lib/sign-in.ts')
  const port = await freePort()
  const url = `http://localhost:${port}`
  const workers = CLIENTS.map((clients) => ({ clients, process: fork(import.meta.filename, ['client']) }))
  let server: Awaited<ReturnType<typeof startServer>> | null = null
  try {
    server = await startServer(port, LIMITS)
    const { token } = await signIn(url, 'rotation@example.com')
    const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, { token, json: { name: 'r' } })
    const api = `${url}/platform/v1/api-keys`
    const { key, secret } = await must<Minted>(api, { token, project, json: { name: 'r' } })
    const secrets = [secret]
    const total: Report = {}
    const order = async (learned: string) => {
      const reports = workers.map((worker) => {
        const report = new Promise<Report>((resolve) =>
          worker.process.once('message', (said) => resolve(said as Report)),
        )
        worker.process.send({ url, project, secret: learned, clients: worker.clients })
        return report
      })
      for (const report of await Promise.all(reports)) {
        for (const [says, n] of Object.entries(report)) total[says] = (total[says] ?? 0) + n
      }
    }
    await order(secret)
    console.log(`Before: ${JSON.stringify(total)}`)
    for (let n = 0; n < ROTATIONS; n++) {
      const json = { when: 'first_use', grace_s: 600 }
      const rotated = await must<Minted>(`${api}/${key.id}/rotate`, { token, project, json })
      secrets.push(rotated.secret)
      await order(rotated.secret)
      console.log(`After rotation ${n + 1}: ${JSON.stringify(total)}`)
    }
    const { previous, pending } = await must<Minted['key']>(`${api}/${key.id}`, { token, project })
    await must(`${api}/${key.id}/previous-secret`, { method: 'DELETE', token, project })
    const after = await Promise.all(secrets.map((one) => ask(`${api}/self`, { token: one, project })))
    const works = after.map(({ status }) => status)
    const requests = Object.values(total).reduce((sum, n) => sum + n, 0)
    console.log(
      `${requests} requests of 50 clients over ${ROTATIONS} rotations: ${total['200'] ?? 0} were answered 200`,
    )
    console.log(`Then, the secrets in their order: ${works.join(', ')}`)
    const isGood = total['200'] === requests && requests === 50 * REQUESTS * (ROTATIONS + 1)
    const isOver =
      previous !== null && pending === null && works.join() === [...secrets.slice(1).map(() => 401), 200].join()
    return isGood && isOver ? 0 : 1
  } finally {
    for (const worker of workers) worker.process.kill()
    killServer(server)
    remove()
  }
}

if (process.send) serveClients()
else process.exit(await main())
