"""The service: `fse check` as a REST API and a dashboard. A thin face over `fse_core.check`."""
