/** One row that cannot be drawn must not take the others and the composer with it. */
import { Component, type ReactNode } from 'react';

export class Boundary extends Component<{ of: unknown; children: ReactNode }, { failed: unknown }> {
  override state: { failed: unknown } = { failed: null };

  static getDerivedStateFromError(failed: unknown) {
    return { failed: failed ?? 'unknown' };
  }

  /** What has changed since may be drawn again. */
  override componentDidUpdate(before: { of: unknown }) {
    if (before.of !== this.props.of && this.state.failed !== null) this.setState({ failed: null });
  }

  override render() {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    return <div className="note bad" role="alert">This part cannot be drawn ({failed instanceof Error ? failed.message : String(failed)}). It is in the log; the trace shows it.</div>;
  }
}
