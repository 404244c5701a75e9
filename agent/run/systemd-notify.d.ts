declare module 'systemd-notify' {
  /** Runs the program of the same name. Rejects with what it said on stderr. */
  const notify: (message: { ready?: boolean; status?: string }) => Promise<unknown>;
  export default notify;
}
