# Three hosts of Sandlot on one PostgreSQL, for Nomad: nomad job run contrib/sandlot.nomad.hcl
# The image is that of contrib/Dockerfile; the database and the secret come from Nomad's variables
# (nomad var put nomad/jobs/sandlot store=postgres://… secret_key=…). This file was not tried in our tests.
job "sandlot" {
  # One after another: its worlds move to the others, and it takes worlds again 9 s after its start.
  update {
    max_parallel     = 1
    health_check     = "checks"
    min_healthy_time = "10s"
  }

  group "host" {
    count = 3
    constraint { distinct_hosts = true }
    network {
      mode = "host"
      port "http" { static = 5000 }
    }
    service {
      name     = "sandlot"
      port     = "http"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/readyz"
        interval = "3s"
        timeout  = "2s"
      }
    }
    task "sandlot" {
      driver       = "docker"
      kill_signal  = "SIGTERM"
      kill_timeout = "15s"
      config {
        image        = "sandlot"
        network_mode = "host"
        args         = ["up", "--host", "0.0.0.0", "--port", "5000", "--data", "/alloc/data/sandlot"]
        security_opt = ["seccomp=/etc/sandlot/seccomp.json"]
      }
      template {
        destination = "secrets/env"
        env         = true
        data        = <<EOT
SANDLOT_HOST_URL=http://{{ env "attr.unique.network.ip-address" }}:5000
{{ with nomadVar "nomad/jobs/sandlot" }}SANDLOT_STORE={{ .store }}
SANDLOT_SECRET_KEY={{ .secret_key }}{{ end }}
EOT
      }
      resources {
        cpu    = 4000
        memory = 8192
      }
    }
  }
}
