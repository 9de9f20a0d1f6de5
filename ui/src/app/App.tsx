import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, useState } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { SourceProvider, makeClient } from "../data/queries";
import type { Source } from "../data/source";
import { Empty } from "../components/feedback/Empty";
import { Shell } from "./Shell";
import { useHashLocation, useHashSearch } from "./hashLocation";
import { SCREENS } from "./routes";

/** The page, over a server or over the file that it is in (there the address is behind the `#`). */
export function App({ source, start = "/runs", places = {} }: { source: Source; start?: string; places?: Readonly<Record<string, string>> | undefined }) {
  const [client] = useState(makeClient);
  const location = source.live ? {} : { hook: useHashLocation, searchHook: useHashSearch };
  return (
    <StrictMode>
      <QueryClientProvider client={client}>
        <SourceProvider value={source}>
          <Router {...location}>
            <Shell places={places}>
              <Switch>
                {SCREENS.filter((screen) => source.live || !screen.live || screen.path in places).map(({ path, Screen }) => (
                  <Route key={path} path={path}>
                    <Screen />
                  </Route>
                ))}
                <Route path="/">
                  <Redirect to={start} replace />
                </Route>
                <Route>
                  <Empty title="Page not found" does="The list of runs is a good place to start from." to="/runs" toName="All runs" />
                </Route>
              </Switch>
            </Shell>
          </Router>
        </SourceProvider>
      </QueryClientProvider>
    </StrictMode>
  );
}
