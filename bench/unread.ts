import { connect, type Socket } from 'node:net'

/** Requests that a client sends at once: the first answers fill the buffers of the sockets, the others wait in the Worker. */
const EACH = 20

/**
 * Clients that ask and never read. They hold the answers until `close`.
 *
 * @param clients how many
 */
export async function openUnread(url: string, path: string, headers: Record<string, string>, clients: number) {
  const { hostname, port } = new URL(url)
  const lines = Object.entries({ Host: hostname, ...headers }).map(([name, value]) => `${name}: ${value}`)
  const request = `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
  const sockets = await Promise.all(Array.from({ length: clients }, () => connected(Number(port), hostname)))
  for (const socket of sockets) socket.write(request.repeat(EACH))
  return {
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function connected(port: number, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host })
    socket.once('connect', () => {
      socket.pause()
      socket.removeListener('error', reject)
      socket.on('error', () => {}) // the Worker may hang up on who does not read
      resolve(socket)
    })
    socket.once('error', reject)
  })
}
