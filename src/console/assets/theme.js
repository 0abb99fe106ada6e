// The theme that was chosen in the console, for pages that are the same file for everybody. It runs before anything is painted.
{
  const [, chosen] = document.cookie.match(/(?:^|; )__Host-theme=(light|dark)(?:;|$)/) ?? []
  if (chosen) document.documentElement.dataset.theme = chosen
}
