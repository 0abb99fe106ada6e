import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Account } from './account.ts'

/** Serves an account's API on 127.0.0.1. `url` is what CLOUDFLARE_API_BASE_URL is set to. */
export async function serveAccount(account: Account): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const asked = {
      method: request.method ?? '',
      path: decodeURIComponent(pathname.replace(/^\/client\/v4/, '')),
      query: searchParams,
    }
    const { status, body } = account.answer({ ...asked, body: Buffer.concat(chunks).toString('utf8') })
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/client/v4`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
