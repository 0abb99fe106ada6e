/** An id, as plain text. The script adds an icon that copies it: copy.js. */
export function Id({ children }: { children: string }) {
  return <code class="id">{children}</code>
}
