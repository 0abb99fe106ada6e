import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { ADDRESS_HEADER } from './address.ts'
import { outside } from './outside.ts'

/** Serves all hosts outside on a port of this machine: for the Worker and the browser of the browser tests. */
export function startOutside(): Promise<{ url: string; stop: () => void }> {
  const server = createServer(async (request, response) => {
    const { method = 'GET', headers } = request
    const address = headers[ADDRESS_HEADER.toLowerCase()]
    const given = Object.entries(headers).flatMap(([name, value]) =>
      name === 'host' || value === undefined ? [] : [[name, String(value)] as [string, string]],
    )
    const body = await buffer(request)
    const asked = new Request(String(address), { method, headers: given, ...(body.length > 0 && { body }) })
    const answer = await outside(asked).catch((error) => new Response(String(error), { status: 500 }))
    const cookies = answer.headers.getSetCookie()
    response.writeHead(answer.status, {
      ...Object.fromEntries(answer.headers),
      ...(cookies.length > 0 && { 'set-cookie': cookies }),
    })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({ url: `http://127.0.0.1:${port}`, stop: () => server.close() })
    })
  })
}
